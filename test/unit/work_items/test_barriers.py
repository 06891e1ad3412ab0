"""Where BARRIERs have to stand, by hand: `insert_barriers` on one workgroup of a few work items."""

from __future__ import annotations

import pytest
from parsing import parse_module
from xdsl.utils.exceptions import PassFailedException

from tgdialect.ops.codegen import BarrierOp, ProgramOp
from tgdialect.transforms.barriers import check_barriers, insert_barriers

L, X = "tensor<64xi32, #tg.place<local>>", "tensor<64xi32, #tg.place<global>>"
CELL = {"%l": "tensor<i32, #tg.place<local>>", "%x": "tensor<i32, #tg.place<global>>"}


class Program:
    """The block of a program; lines are named by what they do."""

    def __init__(self, items="%c8", groups="%c2"):
        self.lines = [
            f"%x = tg.param 0 : {X}",
            "%n = tg.param 1 min 0 max 16 : tensor<index>",
            f"%l = tg.buffer 0 : {L}",
            *(f"%c{i} = tg.const {i} : tensor<index>" for i in (0, 1, 2, 3, 4, 7, 8, 16, 32)),
            "%one = tg.const 1 : tensor<i32>",
            f'%g = tg.special "gidx0" to {groups} : tensor<index>',
            f'%t = tg.special "lidx0" to {items} : tensor<index>',
        ]
        self.count, self.effect = 0, ""

    def emit(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def index(self, op, a, b):
        return self.emit(f"tg.{op} {a}, {b} : tensor<index>")

    def _cell(self, at, memory):
        type = {"%l": L, "%x": X}[memory]
        return self.emit(f"tg.index {memory}[{at}] : ({type}, tensor<index>) -> {CELL[memory]}")

    def load(self, at, memory="%l"):
        return self.emit(f"tg.load {self._cell(at, memory)} : {CELL[memory]} -> tensor<i32>")

    def store(self, at, memory="%l"):
        types = f"{CELL[memory]}, tensor<i32>"
        self.effect = self.emit(f"tg.store {self._cell(at, memory)}, %one : {types}")

    def loop(self, bound="%c3"):
        return self.emit(f"tg.range {self.count} loop to {bound} : tensor<index>")

    def end(self, k):
        self.emit(f"tg.end {self.effect} over {k} : !tg.void")

    def begin_if(self, a, b):
        gate = self.emit(f"tg.cmplt {a}, {b} : (tensor<index>, tensor<index>) -> tensor<i1>")
        return self.emit(f"tg.if {gate} : tensor<i1>")

    def end_if(self, begin):
        self.emit(f"tg.endif {begin}")

    def block(self):
        text = "tg.program @k { %lin = tg.linear {\n" + "\n".join(self.lines) + "\n} }"
        program = parse_module(text).body.block.first_op
        assert isinstance(program, ProgramOp)
        return program.linear.body.block

    def places(self):
        """The accesses, loops and IFs in order, with `|` where a BARRIER has been inserted."""
        block = self.block()
        insert_barriers(block)
        check_barriers(block)
        signs = {"store": "S", "load": "L", "range": "(", "end": ")", "if": "[", "endif": "]"}
        names = (
            ("|" if isinstance(op, BarrierOp) else signs.get(op.name[3:], "")) for op in block.ops
        )
        return "".join(names)


def test_own_cells_need_none():
    p = Program()
    p.store("%t")
    p.load("%t")
    assert p.places() == "SL"


def test_a_cell_of_another_work_item():
    p = Program()
    p.store("%t")
    p.load(p.index("sub", "%c7", "%t"))
    p.store("%t")
    assert p.places() == "S|L|S"


def test_one_barrier_orders_all_pairs_across_it():
    p = Program()
    other, far = p.index("sub", "%c7", "%t"), p.index("add", "%t", "%c16")
    p.store("%t")
    p.store(far)
    p.load(other)
    p.load(p.index("add", other, "%c16"))
    assert p.places() == "SS|LL"


@pytest.mark.parametrize("op", ["xor", "mod", "idiv"])
def test_digits_of_the_index_are_exact(op):
    """A permutation of the cells that is written and read by the same work item needs none."""
    p = Program()
    at = {
        "xor": lambda: p.index("xor", "%t", "%c3"),
        "mod": lambda: p.index("mod", p.index("add", "%t", "%c3"), "%c8"),
        "idiv": lambda: p.index(
            "add",
            p.index("mul", p.index("mod", "%t", "%c2"), "%c4"),
            p.index("idiv", "%t", "%c2"),
        ),
    }[op]()
    p.store(at)
    p.load(at)
    p.load("%t")
    assert p.places() == "SL|L"


def test_private_parts_of_a_buffer():
    """Work item t has the cells t, t + 8, ...: all iterations stay in its part."""
    p = Program()
    k = p.loop()
    p.store(p.index("add", "%t", p.index("mul", k, "%c8")))
    p.end(k)
    j = p.loop()
    p.load(p.index("add", "%t", p.index("mul", j, "%c8")))
    p.end(j)
    assert p.places() == "(S)(L)"


def test_a_loop_carries_a_conflict():
    p = Program()
    k = p.loop()
    p.store("%t")
    p.load("%c0")
    p.end(k)
    assert p.places() == "(|S|L)"


def test_a_loop_of_one_iteration_carries_none():
    p = Program()
    k = p.loop("%c1")
    p.store("%t")
    p.load("%c0")
    p.end(k)
    assert p.places() == "(S|L)"


def test_double_buffering_needs_one_barrier_an_iteration():
    p = Program()
    k = p.loop("%c16")
    half = p.index("mul", p.index("mod", k, "%c2"), "%c8")
    p.store(p.index("add", half, "%t"))
    p.load(p.index("add", half, p.index("sub", "%c7", "%t")))
    p.end(k)
    assert p.places() == "(S|L)"


def test_a_barrier_inside_a_loop_makes_one_before_it_needless():
    p = Program()
    p.store("%t")
    k = p.loop()
    p.load("%c0")
    p.store("%t")
    p.end(k)
    assert p.places() == "S(|L|S)"


def test_a_barrier_stands_before_a_loop_that_not_all_enter_alike():
    p = Program()
    p.store("%t")
    k = p.loop("%t")
    p.load("%c0")
    p.end(k)
    assert p.places() == "S|(L)"


def test_a_barrier_stands_before_an_if_of_some_work_items():
    p = Program()
    p.store("%t")
    begin = p.begin_if("%t", "%c4")
    p.load(p.index("sub", "%c7", "%t"))
    p.end_if(begin)
    assert p.places() == "S|[L]"


def test_an_if_that_is_the_same_for_all_has_its_own():
    p = Program()
    begin = p.begin_if("%g", "%n")
    p.store("%t")
    p.load("%c0")
    p.end_if(begin)
    assert p.places() == "[S|L]"


def test_the_gate_of_an_if_says_which_work_items_access():
    """The halves of a tree reduction: work item t adds cell t + 4, for t < 4."""
    p = Program()
    p.store("%t")
    for half in ("%c4", "%c2"):
        begin = p.begin_if("%t", half)
        p.load("%t")
        p.load(p.index("add", "%t", half))
        p.store("%t")
        p.end_if(begin)
    assert p.places() == "S|[LLS]|[LLS]"


def test_one_work_item_needs_none():
    p = Program(items="%c1")
    p.store("%c0")
    p.load("%c0")
    assert p.places() == "SL"


def test_global_memory():
    p = Program()
    p.store(p.index("add", p.index("mul", "%g", "%c8"), "%t"), "%x")
    p.load(p.index("add", p.index("mul", "%g", "%c8"), "%t"), "%x")
    p.load(p.index("mul", "%g", "%c8"), "%x")
    assert p.places() == "SL|L"


def test_what_only_some_work_items_do_cannot_be_ordered():
    p = Program()
    begin = p.begin_if("%t", "%c4")
    p.store("%t")
    p.load("%c0")
    p.end_if(begin)
    with pytest.raises(PassFailedException, match="no barrier can order the two"):
        insert_barriers(p.block())
