"""Texts of kernels with loops to schedule, and the shapes of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from stages import kernel, load, store


def ranges(**kinds: tuple[int, str, int]) -> str:
    """`i=(0, "loop", 8)`: a range of this axis id, type and extent."""
    return "".join(
        f"%n{name} = tg.const {extent} : tensor<index>\n"
        f"%{name} = tg.range {axis} {kind} to %n{name} : tensor<index>\n"
        for name, (axis, kind, extent) in kinds.items()
    )


def gemm(m: int, n: int, k: int, second: str = "kj") -> str:
    """`second` is how the second matrix is indexed: "jk" if it has a row for each column of the
    result, so that vectors ask for a copy of it."""
    shape = f"{k}x{n}" if second == "kj" else f"{n}x{k}"
    return kernel(
        "k",
        [f"o: {memory(f'{m}x{n}')}", f"a: {memory(f'{m}x{k}')}", f"b: {memory(shape)}"],
        ranges(i=(0, "loop", m), j=(1, "loop", n), k=(2, "reduce", k))
        + load("x", "a", f"{m}x{k}xf32", "ik")
        + load("y", "b", f"{shape}xf32", second)
        + "%xy = tg.mul %x, %y : tensor<f32>\n"
        + "%r = tg.reduce add %xy [] over %k : tensor<f32> -> tensor<f32>\n"
        + store("s", "o", f"{m}x{n}xf32", "ij", "r")
        + "%e = tg.end %s over %j, %i : !tg.void\ntg.sink %e : !tg.void",
    )


def memory(shape: str) -> str:
    return f"tensor<{shape}xf32, #tg.place<global>>"


def row_sums(m: int, n: int) -> str:
    return kernel(
        "k",
        [f"o: {memory(str(m))}", f"a: {memory(f'{m}x{n}')}"],
        ranges(i=(0, "loop", m), k=(1, "reduce", n))
        + load("x", "a", f"{m}x{n}xf32", "ik")
        + "%r = tg.reduce max %x [] over %k : tensor<f32> -> tensor<f32>\n"
        + "%t = tg.reduce add %x [] over %k : tensor<f32> -> tensor<f32>\n"
        + "%d = tg.sub %r, %t : tensor<f32>\n"
        + store("s", "o", f"{m}xf32", "i", "d")
        + "%e = tg.end %s over %i : !tg.void\ntg.sink %e : !tg.void",
    )


def transposed(m: int, n: int) -> str:
    return kernel(
        "k",
        [f"o: {memory(f'{n}x{m}')}", f"a: {memory(f'{m}x{n}')}"],
        ranges(i=(0, "loop", m), j=(1, "loop", n))
        + load("x", "a", f"{m}x{n}xf32", "ij")
        + "%y = tg.mul %x, %x : tensor<f32>\n"
        + store("s", "o", f"{n}x{m}xf32", "ji", "y")
        + "%e = tg.end %s over %j, %i : !tg.void\ntg.sink %e : !tg.void",
    )


def convolution(out: int, channels: int, size: int, taps: int) -> str:
    """Weights whose last axes are all reduced: a copy of them has one loop."""
    result, weights = f"{out}x{size}x{size}", f"{out}x{channels}x{taps}"
    image = f"{channels}x{size}x{size + taps - 1}"
    return kernel(
        "k",
        [f"o: {memory(result)}", f"x: {memory(image)}", f"w: {memory(weights)}"],
        ranges(
            i=(0, "loop", out),
            h=(1, "loop", size),
            j=(2, "loop", size),
            t=(3, "reduce", taps),
            c=(4, "reduce", channels),
        )
        + "%p = tg.add %j, %t : tensor<index>\n"
        + load("u", "x", f"{image}xf32", "chp")
        + load("v", "w", f"{weights}xf32", "ict")
        + "%uv = tg.mul %u, %v : tensor<f32>\n"
        + "%r = tg.reduce add %uv [] over %t, %c : tensor<f32> -> tensor<f32>\n"
        + store("s", "o", f"{result}xf32", "ihj", "r")
        + "%e = tg.end %s over %j, %h, %i : !tg.void\ntg.sink %e : !tg.void",
    )


def pointwise(out: int, channels: int, size: int) -> str:
    """A product of matrices whose columns are the cells of an image."""
    image = f"{channels}x{size}x{size}"
    return kernel(
        "k",
        [f"o: {memory(f'{out}x{size}x{size}')}", f"x: {memory(image)}"],
        ranges(
            i=(0, "loop", out),
            h=(1, "loop", size),
            j=(2, "loop", size),
            c=(3, "reduce", channels),
        )
        + load("u", "x", f"{image}xf32", "chj")
        + "%p = tg.cast %i to f32 : tensor<index> -> tensor<f32>\n"
        + "%v = tg.mul %u, %p : tensor<f32>\n"
        + "%r = tg.reduce add %v [] over %c : tensor<f32> -> tensor<f32>\n"
        + store("s", "o", f"{out}x{size}x{size}xf32", "ihj", "r")
        + "%e = tg.end %s over %j, %h, %i : !tg.void\ntg.sink %e : !tg.void",
    )


def scan(m: int, n: int, cell: str) -> str:
    """Sums of the m cells up to each, in a register for each of n columns, "ij", or rows, "ji"."""
    reg = "tensor<f32, #tg.place<reg>>"
    shape = f"{m}x{n}" if cell == "ij" else f"{n}x{m}"
    return kernel(
        "k",
        [f"o: {memory(shape)}", f"a: {memory(shape)}"],
        ranges(j=(0, "loop", n), i=(1, "reduce", m))
        + load("x", "a", f"{shape}xf32", cell)
        + f"""
        %zero = tg.const 0.0 : tensor<f32>
        %acc = tg.buffer 0 : {reg}
        %outer = tg.after %acc, %j : ({reg}, tensor<index>) -> {reg}
        %init = tg.store %outer, %zero : {reg}, tensor<f32>
        %inside = tg.after %acc, %init, %i : ({reg}, !tg.void, tensor<index>) -> {reg}
        %old = tg.load %inside : {reg} -> tensor<f32>
        %new = tg.add %old, %x : tensor<f32>
        %kept = tg.store %inside, %new : {reg}, tensor<f32>
        """
        + store("s", "o", f"{shape}xf32", cell, "new")
        + "%g = tg.group %s, %kept\n"
        + "%e = tg.end %g over %i, %j : !tg.void\ntg.sink %e : !tg.void",
    )


def dynamic_row_sums(n: int) -> str:
    """Row sums of as many rows as parameter 1 says."""
    return kernel(
        "k",
        [f"o: {memory('13')}", "n: tensor<index>", f"a: {memory(f'13x{n}')}"],
        "%i = tg.range 0 loop to %n : tensor<index>\n"
        + ranges(k=(1, "reduce", n))
        + load("x", "a", f"13x{n}xf32", "ik")
        + "%t = tg.reduce add %x [] over %k : tensor<f32> -> tensor<f32>\n"
        + store("s", "o", "13xf32", "i", "t")
        + "%e = tg.end %s over %i : !tg.void\ntg.sink %e : !tg.void",
    )


KERNELS: dict[str, tuple[str, Sequence[tuple[int, ...] | int]]] = {
    "gemm": (gemm(6, 12, 10), [(6, 12), (6, 10), (10, 12)]),
    "gemm, odd": (gemm(5, 7, 3), [(5, 7), (5, 3), (3, 7)]),
    "row sums": (row_sums(6, 20), [(6,), (6, 20)]),
    "transposed": (transposed(9, 12), [(12, 9), (9, 12)]),
    "transposed in squares": (transposed(32, 48), [(48, 32), (32, 48)]),
    "gemm of columns": (gemm(48, 32, 16, "jk"), [(48, 32), (48, 16), (32, 16)]),
    "gemm of odd columns": (gemm(23, 34, 21, "jk"), [(23, 34), (23, 21), (34, 21)]),
    "convolution": (convolution(32, 8, 5, 2), [(32, 5, 5), (8, 5, 6), (32, 8, 2)]),
    "pointwise": (pointwise(6, 9, 5), [(6, 5, 5), (9, 5, 5)]),
    "column scan": (scan(5, 18, "ij"), [(5, 18), (5, 18)]),
    "row scan": (scan(18, 6, "ji"), [(6, 18), (6, 18)]),
    "dynamic row sums": (dynamic_row_sums(20), [(13,), 13, (13, 20)]),
    "no row sums": (row_sums(0, 20), [(0,), (0, 20)]),
}
"""Kernels, and the shapes of their arguments; a number is an index scalar."""
