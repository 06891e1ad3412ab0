"""How the time of programs grows with their size, where the program as written is quadratic.

    python bench/growth.py [name ...]

The specification writes arange, gather, scatter and prefix sums as masks and reductions. Each is
compiled for sizes n, 2n, 4n and 8n, and timed; the exponent is the slope of a line through the
logarithms: 1 is linear, 2 quadratic.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

import tgdialect as tg

FACTORS = (1, 2, 4, 8)
REPEAT = 25
LIMIT = 1.1

Inputs = tuple[np.ndarray, ...]


def windows(of: str, n: int, dtype: str) -> str:
    """The specification's prefix sum of `%of`, as `%counts`."""
    cells, twice = (n + 1) * (2 * n - 1), 2 * n
    return f"""
  %padded = tg.pad %{of} at [{n - 1}] to [{twice - 1}]
    : tensor<{n}x{dtype}> -> tensor<{twice - 1}x{dtype}>
  %row = tg.reshape %padded [1, {twice - 1}]
    : tensor<{twice - 1}x{dtype}> -> tensor<1x{twice - 1}x{dtype}>
  %tiled = tg.expand %row [{n + 1}, {twice - 1}]
    : tensor<1x{twice - 1}x{dtype}> -> tensor<{n + 1}x{twice - 1}x{dtype}>
  %flat = tg.reshape %tiled [{cells}]
    : tensor<{n + 1}x{twice - 1}x{dtype}> -> tensor<{cells}x{dtype}>
  %trimmed = tg.shrink %flat at [0] to [{n * twice}]
    : tensor<{cells}x{dtype}> -> tensor<{n * twice}x{dtype}>
  %sliding = tg.reshape %trimmed [{n}, {twice}]
    : tensor<{n * twice}x{dtype}> -> tensor<{n}x{twice}x{dtype}>
  %windows = tg.shrink %sliding at [0, 0] to [{n}, {n}]
    : tensor<{n}x{twice}x{dtype}> -> tensor<{n}x{n}x{dtype}>
  %sums = tg.reduce add %windows [1] : tensor<{n}x{n}x{dtype}> -> tensor<{n}x1x{dtype}>
  %counts = tg.reshape %sums [{n}] : tensor<{n}x1x{dtype}> -> tensor<{n}x{dtype}>"""


def counting(n: int) -> str:
    """`%arange`, of n elements."""
    return f"""
  %one = tg.const 1 : tensor<i32>
  %single = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %single [{n}] : tensor<1xi32> -> tensor<{n}xi32>{windows("ones", n, "i32")}
  %arange = tg.sub %counts, %one : (tensor<{n}xi32>, tensor<i32>) -> tensor<{n}xi32>"""


def one_hot(k: int, d: int) -> str:
    """`%mask[k, d]`: whether `%idx[d]` is k."""
    return f"""{counting(k)}
  %pos = tg.reshape %arange [{k}, 1] : tensor<{k}xi32> -> tensor<{k}x1xi32>
  %wanted = tg.reshape %idx [1, {d}] : tensor<{d}xi32> -> tensor<1x{d}xi32>
  %equal = tg.cmpeq %pos, %wanted : (tensor<{k}x1xi32>, tensor<1x{d}xi32>) -> tensor<{k}x{d}xi1>
  %mask = tg.cast %equal to f32 : tensor<{k}x{d}xi1> -> tensor<{k}x{d}xf32>"""


def arange(n: int) -> tuple[str, Inputs, np.ndarray]:
    text = f"""func.func @main() -> tensor<{n}xi32> {{{counting(n)}
  return %arange : tensor<{n}xi32>
}}"""
    return text, (), np.arange(n, dtype=np.int32)


def prefix_sum(n: int) -> tuple[str, Inputs, np.ndarray]:
    x = np.random.default_rng(0).integers(-8, 8, n).astype(np.float32)
    text = f"""func.func @main(%t: tensor<{n}xf32>) -> tensor<{n}xf32> {{{windows("t", n, "f32")}
  return %counts : tensor<{n}xf32>
}}"""
    return text, (x,), np.cumsum(x)


def gather(n: int) -> tuple[str, Inputs, np.ndarray]:
    """n elements out of a table of n / 4."""
    k = n // 4
    rng = np.random.default_rng(0)
    table, idx = rng.random(k, np.float32), rng.integers(0, k, n, dtype=np.int32)
    text = f"""func.func @main(%t: tensor<{k}xf32>, %idx: tensor<{n}xi32>)
    -> tensor<{n}xf32> {{{one_hot(k, n)}
  %column = tg.reshape %t [{k}, 1] : tensor<{k}xf32> -> tensor<{k}x1xf32>
  %selected = tg.mul %column, %mask
    : (tensor<{k}x1xf32>, tensor<{k}x{n}xf32>) -> tensor<{k}x{n}xf32>
  %total = tg.reduce add %selected [0] : tensor<{k}x{n}xf32> -> tensor<1x{n}xf32>
  %result = tg.reshape %total [{n}] : tensor<1x{n}xf32> -> tensor<{n}xf32>
  return %result : tensor<{n}xf32>
}}"""
    return text, (table, idx), table[idx]


def scatter_add(n: int) -> tuple[str, Inputs, np.ndarray]:
    """n elements added into a table of n / 4."""
    k = n // 4
    rng = np.random.default_rng(0)
    table, val = (rng.integers(-8, 8, m).astype(np.float32) for m in (k, n))
    idx = rng.integers(0, k, n, dtype=np.int32)
    text = f"""func.func @main(%t: tensor<{k}xf32>, %idx: tensor<{n}xi32>, %val: tensor<{n}xf32>)
    -> tensor<{k}xf32> {{{one_hot(k, n)}
  %vals = tg.reshape %val [1, {n}] : tensor<{n}xf32> -> tensor<1x{n}xf32>
  %spread = tg.mul %mask, %vals : (tensor<{k}x{n}xf32>, tensor<1x{n}xf32>) -> tensor<{k}x{n}xf32>
  %added = tg.reduce add %spread [1] : tensor<{k}x{n}xf32> -> tensor<{k}x1xf32>
  %updates = tg.reshape %added [{k}] : tensor<{k}x1xf32> -> tensor<{k}xf32>
  %result = tg.add %t, %updates : tensor<{k}xf32>
  return %result : tensor<{k}xf32>
}}"""
    expected = table.copy()
    np.add.at(expected, idx, val)
    return text, (table, idx, val), expected


def embedding(n: int) -> tuple[str, Inputs, np.ndarray]:
    """n elements in rows of 64, out of a table of four times as many: one-hot times matrix."""
    rng = np.random.default_rng(0)
    d, c = n // 64, 64
    table = rng.random((n // 16, c), np.float32)
    k = len(table)
    idx = rng.integers(0, k, d, dtype=np.int32)
    text = f"""func.func @main(%t: tensor<{k}x{c}xf32>, %idx: tensor<{d}xi32>)
    -> tensor<{d}x{c}xf32> {{{one_hot(k, d)}
  %column = tg.reshape %mask [{k}, {d}, 1] : tensor<{k}x{d}xf32> -> tensor<{k}x{d}x1xf32>
  %rows = tg.reshape %t [{k}, 1, {c}] : tensor<{k}x{c}xf32> -> tensor<{k}x1x{c}xf32>
  %selected = tg.mul %column, %rows
    : (tensor<{k}x{d}x1xf32>, tensor<{k}x1x{c}xf32>) -> tensor<{k}x{d}x{c}xf32>
  %total = tg.reduce add %selected [0] : tensor<{k}x{d}x{c}xf32> -> tensor<1x{d}x{c}xf32>
  %result = tg.reshape %total [{d}, {c}] : tensor<1x{d}x{c}xf32> -> tensor<{d}x{c}xf32>
  return %result : tensor<{d}x{c}xf32>
}}"""
    return text, (table, idx), table[idx]


def pad_chain(n: int) -> tuple[str, Inputs, np.ndarray]:
    """Rows padded, turned around, and cut elsewhere."""
    r, c = n // 64, 64
    x = np.random.default_rng(0).random((r, c), np.float32)
    text = f"""func.func @main(%x: tensor<{r}x{c}xf32>) -> tensor<{r}x{c}xf32> {{
  %p = tg.pad %x at [1, 0] to [{r + 2}, {c}] : tensor<{r}x{c}xf32> -> tensor<{r + 2}x{c}xf32>
  %f = tg.flip %p [true, false] : tensor<{r + 2}x{c}xf32>
  %l = tg.reshape %f [{(r + 2) * c}] : tensor<{r + 2}x{c}xf32> -> tensor<{(r + 2) * c}xf32>
  %s = tg.shrink %l at [{c // 2}] to [{r * c}] : tensor<{(r + 2) * c}xf32> -> tensor<{r * c}xf32>
  %m = tg.reshape %s [{r}, {c}] : tensor<{r * c}xf32> -> tensor<{r}x{c}xf32>
  return %m : tensor<{r}x{c}xf32>
}}"""
    padded = np.pad(x, ((1, 1), (0, 0)))[::-1].ravel()
    return text, (x,), padded[c // 2 : c // 2 + r * c].reshape(r, c)


PROGRAMS: dict[str, tuple[Callable[[int], tuple[str, Inputs, np.ndarray]], int]] = {
    "arange": (arange, 1 << 19),
    "gather": (gather, 1 << 15),
    "prefix_sum": (prefix_sum, 1 << 18),
    "pad-chain": (pad_chain, 1 << 15),
    "embedding": (embedding, 1 << 14),
    "scatter_add": (scatter_add, 1 << 15),
}
"""Each with its least size: it takes longer than a call, and eight times as much fits a cache."""


def best_seconds(make: Callable[[int], tuple[str, Inputs, np.ndarray]], n: int) -> float:
    """The least time of a run, whose result is checked."""
    text, inputs, expected = make(n)
    exe = tg.compile(text)
    out = np.empty_like(expected, order="C")
    times: list[float] = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        exe(*inputs, out=out)
        times.append(time.perf_counter() - start)
    np.testing.assert_array_equal(out, expected)
    return min(times)


def exponent(sizes: list[int], times: list[float]) -> float:
    """The slope of the line through the logarithms."""
    return float(np.polyfit([math.log(n) for n in sizes], [math.log(t) for t in times], 1)[0])


def rows(names: list[str]) -> Iterator[tuple[str, int, list[float], float]]:
    for name in names:
        make, least = PROGRAMS[name]
        sizes = [least * f for f in FACTORS]
        times = [best_seconds(make, n) for n in sizes]
        yield name, least, times, exponent(sizes, times)


def main() -> None:
    names = sys.argv[1:] or list(PROGRAMS)
    if unknown := set(names) - set(PROGRAMS):
        sys.exit(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(PROGRAMS)}")
    heads = ("n", "2n", "4n", "8n")
    print(f"{'program':<14}{'n':>9}" + "".join(f"{h:>11}" for h in heads) + f"{'exponent':>10}")
    for name, least, times, slope in rows(names):
        shown = "".join(f"{t * 1e3:>9.3f}ms" for t in times)
        mark = "" if slope <= LIMIT else f"  more than {LIMIT}"
        print(f"{name:<14}{least:>9}{shown}{slope:>10.2f}{mark}")


if __name__ == "__main__":
    main()
