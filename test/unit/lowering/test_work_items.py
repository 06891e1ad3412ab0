"""Workgroups on a cpu: barriers in the loops that LOCAL and WARP ranges are, against the
interpreter, by lanes and one iteration at a time."""

from __future__ import annotations

import random
from itertools import count

import numpy as np
import pytest
from stages import parse
from xdsl.utils.exceptions import InterpretationError

import tgdialect as tg
from tgdialect.interpreter import run

G, L, R = ("#tg.place<global>", "#tg.place<local>", "#tg.place<reg>")
INDEX = "tensor<index>"
F2 = "(tensor<f32>, tensor<f32>)"


class Workgroup:
    """The text of a kernel whose work items exchange values through LOCAL memory.

    `extents` are those of its work-item ranges; a value of every work item is a name.
    """

    def __init__(self, extents, groups=None, kinds=None):
        self.extents, self.lines, self.names = extents, [], count()
        self.slots, self.ranges, self.loops = count(3), count(), 0
        self.shape = "x".join(map(str, extents)) + "x"
        self.groups = groups
        whole = self.shape if groups is None else f"{groups}x{self.shape}"
        self.whole = f"tensor<{whole}f32, {G}>"
        self.size = (*(() if groups is None else (groups,)), *extents)
        self.add(f"%out = tg.param 0 : {self.whole}", f"%in = tg.param 1 : {self.whole}")
        kinds = kinds or ["local"] * len(extents)
        self.group = [] if groups is None else [self.range("global", groups)]
        self.items = [self.range(*each) for each in zip(kinds, extents, strict=True)]

    def add(self, *lines):
        self.lines += lines

    def emit(self, text):
        """A value: `text` with its op and types."""
        self.add(f"%v{(n := next(self.names))} = {text}")
        return f"%v{n}"

    def const(self, value, dtype="index"):
        return self.emit(f"tg.const {value} : tensor<{dtype}>")

    def range(self, kind, extent):
        bound = extent if isinstance(extent, str) else self.const(extent)
        return self.emit(f"tg.range {next(self.ranges)} {kind} to {bound} : {INDEX}")

    def ints(self, op, a, b):
        return self.emit(f"tg.{op} {a}, {b} : {INDEX}")

    def floats(self, op, a, b):
        return self.emit(f"tg.{op} {a}, {b} : tensor<f32>")

    def buffer(self, space, shape):
        return self.emit(f"tg.buffer {next(self.slots)} : tensor<{shape}f32, {space}>")

    def index(self, memory, shape, space, at):
        if not at:
            return memory
        types = ", ".join([f"tensor<{shape}f32, {space}>", *[INDEX] * len(at)])
        return self.emit(f"tg.index {memory}[{', '.join(at)}] : ({types}) -> tensor<f32, {space}>")

    def load(self, memory, shape, space, at):
        at = self.index(memory, shape, space, at)
        return self.emit(f"tg.load {at} : tensor<f32, {space}> -> tensor<f32>")

    def store(self, memory, shape, space, at, value):
        at = self.index(memory, shape, space, at)
        return self.emit(f"tg.store {at}, {value} : tensor<f32, {space}>, tensor<f32>")

    def after(self, memory, shape, space, *effects):
        types = ", ".join([f"tensor<{shape}f32, {space}>", *(t for _, t in effects)])
        names = ", ".join(name for name, _ in effects)
        return self.emit(f"tg.after {memory}, {names} : ({types}) -> tensor<{shape}f32, {space}>")

    def barrier(self, effect, type="!tg.void"):
        return self.emit(f"tg.barrier {effect} : {type}")

    def read(self):
        """What the kernel is given, of each work item."""
        return self.load("%in", self.whole[7:].split("f32")[0], G, self.group + self.items)

    def turned(self, by):
        """The indices of another work item: so many further along each axis, or mirrored."""
        found = []
        for item, extent in zip(self.items, self.extents, strict=True):
            if by is None:
                found.append(self.ints("sub", self.const(extent - 1), item))
            else:
                moved = self.ints("add", item, self.const(by) if isinstance(by, int) else by)
                found.append(self.ints("mod", moved, self.const(extent)))
        return found

    def exchange(self, value, by=None, memory=None, wait=()):
        """What another work item has, through LOCAL memory; the memory as it is then."""
        memory = memory or self.buffer(L, self.shape)
        before = self.after(memory, self.shape, L, *wait) if wait else memory
        stored = self.store(before, self.shape, L, self.items, value)
        shared = self.after(memory, self.shape, L, (self.barrier(stored), "!tg.void"))
        return self.load(shared, self.shape, L, self.turned(by)), memory

    def loop(self, value, steps, by=1):
        """`steps` times: exchange, and add the number of the step. The bound may be a name."""
        register, memory = self.buffer(R, ""), self.buffer(L, self.shape)
        around = [(item, INDEX) for item in self.group + self.items]
        fresh = self.after(register, "", R, *around)
        begun = self.store(fresh, "", R, (), value)
        k = self.range("loop", steps)
        now = self.after(register, "", R, (begun, "!tg.void"), (k, INDEX))
        got, _ = self.exchange(self.load(now, "", R, ()), by, memory)
        number = self.emit(f"tg.cast {k} to f32 : {INDEX} -> tensor<f32>")
        next_value = self.floats("add", got, number)
        kept = self.store(now, "", R, (), next_value)
        ended = self.emit(f"tg.end {self.barrier(kept)} over {k} : !tg.void")
        return self.load(self.after(register, "", R, (ended, "!tg.void")), "", R, ())

    def total(self, value, steps):
        """A REDUCE over what the next `steps` work items have."""
        memory = self.buffer(L, self.shape)
        stored = self.store(memory, self.shape, L, self.items, value)
        shared = self.after(memory, self.shape, L, (self.barrier(stored), "!tg.void"))
        k = self.range("reduce", steps)
        got = self.load(shared, self.shape, L, self.turned(k))
        return self.emit(f"tg.reduce add {got} [] over {k} : tensor<f32> -> tensor<f32>")

    def text(self, value):
        at = self.group + self.items
        stored = self.store("%out", self.whole[7:].split("f32")[0], G, at, value)
        end = self.emit(f"tg.end {stored} over {', '.join(at[::-1])} : !tg.void")
        self.add(f"tg.sink {end} : !tg.void")
        host = self.whole.replace(G, '#tg.place<"CPU", global>')
        body = "\n  ".join(self.lines)
        return f"""tg.kernel @k {{
  {body}
}}
func.func @main(%o: {host}, %a: {host}) {{
  %0 = tg.call @k(%o, %a) : {host}, {host} -> !tg.void
  tg.sink %0 : !tg.void
  func.return
}}"""


def check(group, value, opts=("none", "heuristic")):
    """The kernel gives on the cpu what it gives in the interpreter, whose two ways agree."""
    text = group.text(value)
    x = np.random.default_rng(0).integers(-50, 50, group.size).astype("f4")
    expected = np.zeros_like(x)
    run(parse(text), "main", [expected, x])
    one_by_one = np.zeros_like(x)
    run(parse(text), "main", [one_by_one, x], scalar=True)
    assert np.array_equal(one_by_one, expected), text
    for opt in opts:
        out = np.zeros_like(x)
        tg.compile(text, opt=opt)(out, x)
        assert np.array_equal(out, expected), f"{opt}\n{text}"
    return expected


def test_each_work_item_sees_what_all_have_stored():
    group = Workgroup([16])
    result = check(group, group.exchange(group.read())[0])
    assert len(set(result)) > 8


def test_a_value_that_lives_across_two_barriers():
    group = Workgroup([3, 4], groups=2)
    x = group.read()
    y, _ = group.exchange(group.floats("mul", x, x))
    z, _ = group.exchange(y, 1)
    check(group, group.floats("add", group.floats("sub", z, y), x))


def test_barriers_in_nested_loops_and_after_them():
    group = Workgroup([5], groups=3)
    x = group.loop(group.read(), 4)
    check(group, group.total(group.loop(x, 2, None), 3))


def test_a_register_that_one_region_carries_from_one_iteration_to_the_next():
    """The loop has one region that uses the register: each work item's own goes on there."""
    group = Workgroup([4])
    register, memory = group.buffer(R, ""), group.buffer(L, group.shape)
    x = group.read()
    k = group.range("loop", 3)
    now = group.after(register, "", R, *((item, INDEX) for item in group.items), (k, INDEX))
    total = group.floats("add", group.load(now, "", R, ()), x)
    kept = group.store(now, "", R, (), total)
    at = group.store(memory, group.shape, L, group.items, total)
    both = group.emit(f"tg.group {kept}, {at}")
    ended = group.emit(f"tg.end {group.barrier(both)} over {k} : !tg.void")
    shared = group.after(memory, group.shape, L, (ended, "!tg.void"))
    check(group, group.load(shared, group.shape, L, group.turned(None)))


def test_a_truth_value_lives_across():
    group = Workgroup([6])
    x = group.read()
    positive = group.emit(f"tg.cmplt {group.const(0.0, 'f32')}, {x} : {F2} -> tensor<i1>")
    y, _ = group.exchange(x)
    check(
        group,
        group.emit(
            f"tg.where {positive}, {x}, {y} : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>"
        ),
    )


def test_a_loop_whose_bound_depends_on_the_work_item():
    """The interpreter refuses it when it runs, the compiler before."""
    group = Workgroup([4])
    text = group.text(group.loop(group.read(), group.items[0]))
    x = np.zeros(4, "f4")
    for scalar in (False, True):
        with pytest.raises(InterpretationError, match="barrier is not reached by all work items"):
            run(parse(text), "main", [x.copy(), x], scalar=scalar)
    with pytest.raises(tg.CompilationError, match="bound may differ between the work items"):
        tg.compile(text, opt="none")


def random_group(rng):
    extents = [rng.randint(1, 5) for _ in range(rng.randint(1, 2))]
    kinds = [rng.choice(["local", "local", "warp"]) for _ in extents]
    group = Workgroup(extents, rng.choice([None, 2, 3]), kinds)
    values = [group.read()]
    for _ in range(rng.randint(1, 4)):
        value = rng.choice(values)
        match rng.choice(["exchange", "again", "loop", "total", "mix", "where"]):
            case "exchange":
                values.append(group.exchange(value, rng.choice([None, 1, 2]))[0])
            case "again":
                got, memory = group.exchange(value, rng.choice([None, 1, 2]))
                waited = group.barrier(got, "tensor<f32>")
                more = group.floats("add", got, value)
                values += [got, group.exchange(more, 1, memory, [(waited, "!tg.void")])[0]]
            case "loop":
                values.append(group.loop(value, rng.randint(0, 3), rng.choice([None, 1])))
            case "total":
                values.append(group.total(value, rng.randint(0, 4)))
            case "mix":
                values.append(group.floats("mul", value, rng.choice(values)))
            case _:
                item = rng.choice(group.items)
                test = group.emit(
                    f"tg.cmplt {item}, {group.const(2)} : ({INDEX}, {INDEX}) -> tensor<i1>"
                )
                values.append(
                    group.emit(
                        f"tg.where {test}, {value}, {rng.choice(values)} : "
                        "(tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>"
                    )
                )
    result = values[-1]
    for value in rng.sample(values, rng.randint(0, len(values))):
        result = group.floats("add", result, value)
    return group, result


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_random_workgroups(seed):
    check(*random_group(random.Random(seed)))
