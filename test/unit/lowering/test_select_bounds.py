"""Property: whatever an index and a gate are, an access that is not in range touches nothing."""

import numpy as np
from hypothesis import strategies as st
from kernels import compiled
from random_seeds import searched

N = 12
CANARY = 777

OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "idiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "max": max,
}
COMPARISONS = {
    "cmplt": lambda a, b: a < b,
    "cmpgt": lambda a, b: a > b,
    "cmpge": lambda a, b: a >= b,
    "cmple": lambda a, b: a <= b,
    "cmpeq": lambda a, b: a == b,
    "cmpne": lambda a, b: a != b,
}

LEAF = st.sampled_from(["i", "t", -7, -2, -1, 0, 1, 2, 3, 5, 8, 12])
INDEX = st.recursive(
    LEAF, lambda inner: st.tuples(st.sampled_from(sorted(OPERATIONS)), inner, inner), max_leaves=5
)
COMPARISON = st.tuples(st.sampled_from(sorted(COMPARISONS)), INDEX, INDEX)
GATE = st.recursive(
    COMPARISON,
    lambda inner: st.one_of(
        st.tuples(st.just("and"), inner, inner), st.tuples(st.just("not"), inner)
    ),
    max_leaves=3,
)
ACCESS = st.tuples(INDEX, INDEX, st.none() | GATE, st.integers(0, 4), st.integers(1, 6))


def value(tree, i, t):
    """What an expression is at iteration i, where the table holds t."""
    if not isinstance(tree, tuple):
        return {"i": i, "t": t}.get(tree, tree)
    name, *operands = tree
    numbers = [value(o, i, t) for o in operands]
    if name == "and":
        return all(numbers)
    if name == "not":
        return not numbers[0]
    return (OPERATIONS.get(name) or COMPARISONS[name])(*numbers)


class Writer:
    """The text of expressions; equal ones are one value."""

    def __init__(self):
        self.lines, self.known = [], {"i": "%i", "t": "%t"}

    def write(self, tree):
        if tree in self.known:
            return self.known[tree]
        result = f"%e{len(self.known)}"
        if isinstance(tree, int):
            self.lines.append(f"{result} = tg.const {tree} : !i")
        else:
            name, *operands = tree
            text = ", ".join(self.write(o) for o in operands)
            logical = "tensor<i1>"
            type = logical if name in ("and", "not") else "!i"
            if name in COMPARISONS:
                type = f"(!i, !i) -> {logical}"
            result = f"%e{len(self.known)}"
            self.lines.append(f"{result} = tg.{name} {text} : {type}")
        self.known[tree] = result
        return result


def kernel(accesses):
    """@k: for each access one LOAD from %x and one STORE to %y of its index, under its gate."""
    text = ["tg.kernel @k {", f"%n = tg.const {N} : !i", "%one = tg.const 1.0 : tensor<f32>"]
    text += [f"%p = tg.param 0 : tensor<{N}xindex, #g>", "%alt = tg.const 9.0 : tensor<f32>"]
    text += ["%i = tg.range 0 loop to %n : !i"]
    text += [f"%lp = tg.index %p[%i] : (tensor<{N}xindex, #g>, !i) -> tensor<index, #g>"]
    text += ["%t = tg.load %lp : tensor<index, #g> -> !i"]
    writer, stores = Writer(), []
    for k, (row, column, gate, rows, columns) in enumerate(accesses):
        writer.lines = []
        index = f"{writer.write(row)}, {writer.write(column)}"
        gated = None if gate is None else writer.write(gate)
        x, o = f"tensor<{rows}x{columns}xf32, #g>", f"tensor<{N}xf32, #g>"
        cell = "tensor<f32, #g>"
        text += [f"%o{k} = tg.param {3 * k + 1} : {o}", f"%x{k} = tg.param {3 * k + 2} : {x}"]
        text += [f"%y{k} = tg.param {3 * k + 3} : {x}", *writer.lines]
        text += [f"%{v}l{k} = tg.index %{v}{k}[{index}] : ({x}, !i, !i) -> {cell}" for v in "xy"]
        alt, gate = ("", "") if gated is None else (f" alt %alt gate {gated}", f" gate {gated}")
        types = "" if gated is None else ", tensor<f32>, tensor<i1>"
        text.append(f"%v{k} = tg.load %xl{k}{alt} : {cell}{types} -> tensor<f32>")
        text.append(f"%ol{k} = tg.index %o{k}[%i] : ({o}, !i) -> {cell}")
        text.append(f"%s{k} = tg.store %ol{k}, %v{k} : {cell}, tensor<f32>")
        types = "" if gated is None else ", tensor<i1>"
        text.append(f"%t{k} = tg.store %yl{k}, %one{gate} : {cell}, tensor<f32>{types}")
        stores += [f"%s{k}", f"%t{k}"]
    text += [f"%all = tg.group {', '.join(stores)}", "%end = tg.end %all over %i : !tg.void"]
    return "\n".join([*text, "%sink = tg.sink %end : !tg.void", "}"])


def guarded(rows, columns):
    """A matrix with canaries before and after it."""
    whole = np.full((rows + 40) * columns + 40, CANARY, np.float32)
    inner = whole[20 * columns :][: rows * columns]
    inner[:] = np.arange(1, rows * columns + 1)
    return whole, inner.reshape(rows, columns)


@searched(40, st.lists(ACCESS, min_size=4, max_size=8), st.lists(st.integers(-20, 20), min_size=N))
def test_no_access_leaves_its_buffer(accesses, table):
    table = np.array(table[:N])
    arguments, expected = [], []
    for _, _, _, rows, columns in accesses:
        whole, y = guarded(rows, columns)
        arguments.append((np.zeros(N, np.float32), guarded(rows, columns)[1], y, whole))
        expected.append((np.zeros(N, np.float32), whole.copy()))
    for (row, column, gate, rows, columns), (_, x, _, _), (output, whole) in zip(
        accesses, arguments, expected, strict=True
    ):
        for i, t in enumerate(table.tolist()):
            r, c = value(row, i, t), value(column, i, t)
            inside = 0 <= r < rows and 0 <= c < columns
            if gate is not None and not value(gate, i, t):
                output[i] = 9
            elif inside:
                output[i] = x[r, c]
                whole[(20 + r) * columns + c] = 1
    compiled(kernel(accesses))("k")(table, *(a for four in arguments for a in four[:3]))
    for access, (output, _, _, whole), (wanted, cells) in zip(
        accesses, arguments, expected, strict=True
    ):
        assert np.array_equal(output, wanted), access
        assert np.array_equal(whole, cells), access
