"""Measure the errors of `Tensor`'s functions in units in the last place (ulp), against mpmath.

    python tools/ulp_table.py                                 # prints the table
    python tools/ulp_table.py --functions exp tanh --dtypes f32 f64
    python tools/ulp_table.py --sample 500                    # fewer arguments
    python tools/ulp_table.py --update                        # writes it to docs/semantics.md

Of 16 and 8 bits all values are arguments of functions of one number, and all pairs of 8 bits. Of
f32 and f64 there are 12,000 arguments: of all exponents, uniform in ranges where functions change,
and on both sides of points where functions or their formulas do (`_points`). Of functions whose
terms cancel there are as many more around their zeros and poles (`_of_lgamma`, `_of_logaddexp`).

An error is |result - exact| in ulps of the exact result, whose exponent is at least that of the
least normal number. A result that overflows counts as 2^(e + 1), for the greatest exponent e. A NaN
or an infinity in a wrong place makes the error infinite, and so does a wrong sign of f(0).
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from exact_functions import BINARY, UNARY, Row
from mpmath import mp
from tqdm import tqdm

from tgdialect import Tensor
from tgdialect.frontend import dtypes
from tgdialect.ops.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]

PAGE = Path(__file__).parents[1] / "docs" / "semantics.md"
BEGIN, END = "<!-- ulp table: tools/ulp_table.py --update -->", "<!-- end of the ulp table -->"
DTYPES = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"]
COUNT = 12_000
"""The number of arguments of f32 and f64, and of pairs of 16 bits or more."""
BITS = {"f64": 240, "f32": 120}
"""The precision of mpmath's numbers, so that differences of close numbers have all digits; of other
dtypes 90 bits."""


# -- arguments -----------------------------------------------------------------------------------


def arguments(row: Row, name: str, dtype: DType, count: int | None) -> tuple[Array, ...]:
    """One or two arrays of arguments in a dtype's NumPy form, at most `count` values. A smaller
    sample is a part of a greater one."""
    kind = dtypes.numpy_of(dtype)
    if name in UNARY:
        values = (
            np.arange(2**dtype.bits, dtype=f"u{dtype.bits // 8}").view(kind)
            if dtype.bits <= 16
            else np.concatenate([_sampled(dtype), *(_of_lgamma(dtype) if name == "lgamma" else ())])
        )
        found = (values,)
    elif dtype.bits == 8:
        every = np.arange(256, dtype=np.uint8).view(kind)
        found = tuple(a.flatten() for a in np.meshgrid(every, every))
        found = _without_special(found)
    else:
        found = _without_special(_pairs(name, dtype))
    if count is None or count >= found[0].size:
        return found
    chosen = np.random.default_rng(1).permutation(found[0].size)[:count]
    return tuple(a[chosen] for a in found)


def _without_special(pairs: tuple[Array, ...]) -> tuple[Array, ...]:
    with np.errstate(invalid="ignore"):  # Of ml_dtypes' numbers that are NaN.
        keep = np.all([np.isfinite(a) & (a != 0) for a in pairs], axis=0)
    return tuple(a[keep] for a in pairs)


def _sampled(dtype: DType) -> Array:
    """Arguments of f32 or f64."""
    kind, rng = dtypes.numpy_of(dtype), np.random.default_rng(0)
    bits = rng.integers(0, 2**dtype.bits, COUNT // 4, f"u{dtype.bits // 8}").view(kind)
    top = 1.1 * math.log(dtype.max_finite)
    ranges = (1, 0.3, 2, 10, 40, top)
    uniform = [rng.uniform(-r, r, COUNT // 4 // len(ranges)).astype(kind) for r in ranges]
    powers = 2.0 ** rng.uniform(-30, 30, COUNT // 4) * rng.choice([-1, 1], COUNT // 4)
    near = _points(dtype)
    rest = near[rng.permutation(near.size)[: COUNT // 4 - 80]]
    special = np.array(_special(dtype), kind)
    return np.concatenate([special, -special, bits, *uniform, powers.astype(kind), rest])


def _special(dtype: DType) -> list[float]:
    least = 2.0 ** (dtype.min_exponent - dtype.precision + 1)
    normal = 2.0**dtype.min_exponent
    return [
        0.0,
        math.inf,
        math.nan,
        least,
        2 * least,
        normal,
        normal - least,
        dtype.max_finite,
        1.0,
    ]


def _points(dtype: DType) -> Array:
    """Arguments on both sides of points where a function, or its formula, changes: at distances of
    0 to 16 ulp, and of 2^-k of the point for all k."""
    kind = dtypes.numpy_of(dtype)
    ln2, top, normal = math.log(2), dtype.max_finite, 2.0**dtype.min_exponent
    least = dtype.min_exponent - dtype.precision + 1
    points = [1, 2, 3, 0.25, 0.5, 0.3, 0.35, 0.5 * ln2, 1.5 * ln2, 9, 18, 20, 22, 36, 6, 1e9]
    points += [math.sqrt(x) for x in (0.5, 2, top, normal)]
    points += [math.log(top), math.log(top) + ln2, math.log2(top), -math.log(normal)]
    points += [-least, -least * ln2, -dtype.min_exponent, *(n * math.pi / 4 for n in range(1, 17))]
    points += [n * math.pi / 2 for n in (64, 1000, 12345, 10**6, 10**9)]
    points += [top / 2, top, normal, normal * 2, math.tan(math.pi / 8), math.tan(math.pi / 16)]
    found: list[float] = []
    for point in points:
        near = kind.type(min(point, top))
        up = down = near
        for _ in range(16 if near < top else 0):
            found += [float(up), float(down)]
            up, down = np.nextafter(up, kind.type(math.inf)), np.nextafter(down, kind.type(0))
        for k in range(1, dtype.precision):
            found += [point * (1 + 2.0**-k), point * (1 - 2.0**-k)]
    values = np.array(found).clip(-top, top).astype(kind)
    return np.concatenate([values, -values])


def _around(points: Sequence[Any], dtype: DType) -> Array:
    """Arguments on both sides of negative points: at distances of 0 to 16 ulp, and of 2^-k of the
    point for all k. Points that are arguments themselves are left out."""
    kind = dtypes.numpy_of(dtype)
    found: list[float] = []
    for point in points:
        up = down = kind.type(float(point))
        for _ in range(16):
            found += [float(up), float(down)]
            up, down = np.nextafter(up, kind.type(0)), np.nextafter(down, kind.type(-math.inf))
        for k in range(1, dtype.precision):
            found += [float(point * (1 + 2.0**-k)), float(point * (1 - 2.0**-k))]
    values = np.array(found).astype(kind)
    return values[~np.isin(values, [float(p) for p in points if p == int(p)])]


def _of_lgamma(dtype: DType) -> tuple[Array, Array]:
    """Arguments around the zeros of lgamma below -2, of which there is one on either side of each
    negative integer that f64 tells from it, and around its poles."""
    return _around(lgamma_zeros(), dtype), _around(range(-60, 0), dtype)


@cache
def lgamma_zeros(count: int = 18) -> tuple[Any, ...]:
    """The zeros of lgamma between -2 and -1 - count, as mpmath's numbers."""
    found: list[Any] = []
    with mp.workprec(200):
        for n in range(2, 1 + count):
            # Between two poles there is one minimum, below 0.
            middle = mp.findroot(mp.digamma, -n - mp.mpf("0.5"))
            for pole in (-n, -n - 1):
                inside, outside = middle, mp.mpf(pole)
                for _ in range(180):
                    half = (inside + outside) / 2
                    is_negative = mp.re(mp.loggamma(half)) < 0
                    inside, outside = (half, outside) if is_negative else (inside, half)
                found.append(inside)
    return tuple(found)


def _of_logaddexp(dtype: DType) -> tuple[Array, Array]:
    """Pairs on the curve e^a + e^b = 1, where logaddexp is 0, and at distances of 2^-k of b."""
    kind, rng, n = dtypes.numpy_of(dtype), np.random.default_rng(0), COUNT // 12
    sizes = [rng.uniform(0.01, math.log(2), n), 2.0 ** rng.uniform(dtype.min_exponent, -1, 2 * n)]
    first = (-np.concatenate(sizes)).astype(kind)
    first = np.concatenate([first, first])
    with mp.workprec(200):
        zeros = [float(mp.log(-mp.expm1(float(a)))) for a in first]
    distances = 2.0 ** -rng.integers(1, dtype.precision, first.size // 2)
    distances *= rng.choice([-1, 1], distances.size)
    second = np.array(zeros) * (1 + np.concatenate([np.zeros_like(distances), distances]))
    return first, second.astype(kind)


def _pairs(name: str, dtype: DType) -> tuple[Array, Array]:
    """Pairs of arguments: of all exponents, of similar size, and for powers those whose result is
    finite."""
    kind, rng, n = dtypes.numpy_of(dtype), np.random.default_rng(0), COUNT // 3
    bits = [rng.integers(0, 2**dtype.bits, n, f"u{dtype.bits // 8}").view(kind) for _ in range(2)]
    near = [2.0 ** rng.uniform(-6, 6, n) * rng.choice([-1, 1], n) for _ in range(2)]
    if name == "pow":
        base = 2.0 ** rng.uniform(-12, 12, n)
        third = [base, rng.uniform(-1, 1, n) * math.log(dtype.max_finite) / np.log(base)]
    else:
        third = [2.0 ** rng.uniform(-3, 14, n) * rng.choice([-1, 1], n), rng.integers(1, 99, n) / 8]
    top = dtype.max_finite
    parts = [[a.astype("f8").clip(-top, top).astype(kind) for a in p] for p in (near, third)]
    if name == "logaddexp":
        parts.append(list(_of_logaddexp(dtype)))
    first, second = (np.concatenate(p) for p in zip(bits, *parts, strict=True))
    return first, second


# -- errors --------------------------------------------------------------------------------------


def errors(row: Row, dtype: DType, values: tuple[Array, ...]) -> Array:
    """The error of each result in ulps."""
    computed = row.method(*map(Tensor, values)).cast("f64").numpy()
    numbers = [Tensor(a).cast("f64").tolist() for a in values]
    with mp.workprec(BITS.get(dtype.name, 90)):
        found = [
            _error(row, dtype, xs, y) for y, *xs in zip(computed.tolist(), *numbers, strict=True)
        ]
    return np.array(found)


def _exact(row: Row, xs: Sequence[float]) -> Any:
    """The exact value, NaN where there is none, None where it is not compared."""
    x = xs[0]
    if any(math.isnan(v) for v in xs):
        return math.nan
    if math.isinf(x):
        return row.at_infinity[x > 0]
    if row.poles and str(x) in row.poles:
        return row.poles[str(x)]
    try:
        value = row.exact(*map(mp.mpf, xs))
    except (ValueError, ZeroDivisionError):
        return math.nan if len(xs) == 1 else None
    return math.nan if isinstance(value, mp.mpc) else value


def _error(row: Row, dtype: DType, xs: Sequence[float], y: float) -> float:
    exact = _exact(row, xs)
    if exact is None:
        return 0.0
    if len(xs) == 1 and xs[0] == exact == 0:
        sign = math.copysign(1, xs[0]) if row.is_odd else 1
        return 0.0 if y == 0 and math.copysign(1, y) == sign else math.inf
    return error_of(dtype, exact, y)


def error_of(dtype: DType, exact: Any, y: float) -> float:
    """The error of a result `y` of a dtype in ulps, given the exact value."""
    lib: Any = mp
    if dtype.bits < 64:  # f64 holds the exact value well enough, and is much faster.
        lib, exact = math, float(exact)
    if lib.isnan(exact) or math.isnan(y):
        return 0.0 if lib.isnan(exact) and math.isnan(y) else math.inf
    top = math.frexp(dtype.max_finite)[1]
    exponent = lib.frexp(exact)[1] if lib.isfinite(exact) else top
    least = max(min(exponent, top) - 1, dtype.min_exponent)
    ulp = lib.ldexp(1, least - dtype.precision + 1)
    limit = dtype.max_finite + (ulp / 2 if math.isinf(dtype.high) else 0)
    if abs(exact) >= limit and y == math.copysign(dtype.high, exact):
        return 0.0
    if lib.isinf(exact) or (math.isinf(y) and (y > 0) != (exact > 0)):
        return math.inf
    if math.isinf(y):
        y = lib.ldexp(math.copysign(1, y), top)
    return float(abs(y - exact) / ulp)


# -- the table -----------------------------------------------------------------------------------


def worst(name: str, dtype_name: str, count: int | None = None) -> tuple[float, str]:
    """The greatest error of a function in ulps, and the arguments that have it."""
    dtype = dtypes.to_dtype(dtype_name)
    row = UNARY[name] if name in UNARY else BINARY[name]
    values = arguments(row, name, dtype, count)
    found = errors(row, dtype, values)
    at = int(np.argmax(found))
    return float(found[at]), ", ".join(repr(float(a[at])) for a in values)


def rounded_up(error: float) -> str:
    return "inf" if math.isinf(error) else f"{math.ceil(round(error * 100, 6)) / 100:.2f}"


def text_of(table: Mapping[tuple[str, str], float], names: Sequence[str]) -> str:
    lines = [f"| function | {' | '.join(DTYPES)} |", "|---|" + "---|" * len(DTYPES)]
    for name in names:
        cells = [rounded_up(table[name, d]) if (name, d) in table else "" for d in DTYPES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def documented() -> dict[tuple[str, str], float]:
    """The table in docs/semantics.md."""
    block = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [re.split(r" *\| *", line.strip("| ")) for line in block.splitlines() if "|" in line]
    return {
        (name, dtype): float(cell)
        for name, *cells in rows[2:]
        for dtype, cell in zip(rows[0][1:], cells, strict=True)
    }


def measured(
    names: Sequence[str], kinds: Sequence[str], count: int | None, jobs: int
) -> Iterator[tuple[tuple[str, str], tuple[float, str]]]:
    pairs = list(product(names, kinds))
    with ProcessPoolExecutor(jobs) as pool:
        found = pool.map(worst, *zip(*pairs, strict=True), [count] * len(pairs))
        yield from zip(pairs, tqdm(found, total=len(pairs), disable=None), strict=True)


def main(arguments: Sequence[str] | None = None) -> int:
    every = [*UNARY, *BINARY]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--functions", nargs="+", choices=every, default=every, metavar="NAME")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--sample", type=int, help="the number of arguments (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--worst", action="store_true", help="print the worst arguments as well")
    parser.add_argument("--update", action="store_true", help="write the table to the page")
    options = parser.parse_args(arguments)
    found = dict(measured(options.functions, options.dtypes, options.sample, options.jobs))
    table = {key: error for key, (error, _) in found.items()}
    if options.worst:
        for (name, dtype), (error, at) in found.items():
            print(f"{name:12} {dtype:9} {rounded_up(error):>8} at {at}")
    if not options.update:
        print(text_of(table, options.functions))
        return 0
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    block = text_of({**documented(), **table}, every)
    PAGE.write_text(f"{head}{BEGIN}\n{block}\n{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
