"""The recipes of the transcendental ops, SQRT, FMOD and THREEFRY against wider arithmetic.

Every check runs twice, with mulacc rounded once and twice, for a backend may do either.
"""

import math

import numpy as np
import pytest
from mpmath import mp
from numpy_recipe import (
    WIDER,
    Array,
    carry_out,
    f32_patterns,
    random_patterns,
    special_values,
    ulp_distance,
)

from tgdialect.interpreter.elementwise import ARITHMETIC
from tgdialect.ops.elementwise import TRANSCENDENTAL, SqrtOp, UnaryOp
from tgdialect.transforms.decompose import RECIPES
from tgdialect.transforms.error_function import erfc, gelu
from tgdialect.transforms.float_format import FORMATS
from tgdialect.transforms.logistic import gate
from tgdialect.transforms.remainder import fmod
from tgdialect.transforms.sine import sin
from tgdialect.transforms.threefry import threefry
from tgdialect.transforms.transcendental import (
    exp2,
    log,
    log2,
    log10,
    power,
    softplus,
    sqrt,
)

UNARY = {
    name: (RECIPES[name], ARITHMETIC[op.name])
    for op in (*TRANSCENDENTAL, SqrtOp)
    if issubclass(op, UnaryOp)
    for name in [op.name.removeprefix("tg.")]
}
"""The recipe of each, and the interpreter's function, which takes wider arrays."""


def exact_erfc(x: Array) -> Array:
    """1 - erf x in f64 or long double; the C library's is within 5 ulp of f64."""
    if x.dtype == np.float64:
        return np.vectorize(math.erfc, otypes=[np.float64])(x)
    with mp.workprec(90):
        values = [mp.nstr(mp.erfc(float(v)), 25) if abs(v) < 30 else str(1 - np.sign(v)) for v in x]
    return np.array(values, x.dtype)


def exact_gelu(x: Array) -> Array:
    """x P(Z < x) for a normal Z in f64 or long double, within some ulp of f64."""
    if x.dtype == np.float64:
        return ARITHMETIC["tg.gelu"](x)
    with mp.workprec(150):
        shares = [mp.nstr(mp.ncdf(float(v)), 25) if abs(v) < 60 else str(float(v > 0)) for v in x]
    return x * np.array(shares, x.dtype)


UNARY["erfc"] = (erfc, exact_erfc)
UNARY["gelu"] = (gelu, exact_gelu)
SAMPLED_F64 = {"erfc": 100, "gelu": 100}
"""Of so many arguments one is checked, since the exact function is slow."""
LIMITS = {np.dtype(np.float32): 2, np.dtype(np.float64): 3}
PLAIN_LIMITS = {"erfc": (3.1, 3), "softplus": (1.1, 2), "gelu": (3.1, 3.5)}
"""Other limits of f32 and f64 where mulacc is rounded twice."""
FUSED_LIMITS = {
    **dict.fromkeys(("exp2", "exp", "expm1", "log2", "log", "log10", "log1p"), (1, 1)),
    "erfc": (1.45, 2),
    "softplus": (1, 2),
    "gelu": (1, 2),
}
"""Those of f32 and f64 where mulacc is rounded once."""
OPERATIONS = {
    ("exp2", "f4"): 22,
    ("exp2", "f8"): 27,
    ("exp", "f4"): 21,
    ("exp", "f8"): 26,
    ("expm1", "f4"): 30,
    ("expm1", "f8"): 35,
    ("log2", "f4"): 30,
    ("log2", "f8"): 41,
    ("log", "f4"): 30,
    ("log", "f8"): 42,
    ("log10", "f4"): 30,
    ("log10", "f8"): 42,
    ("log1p", "f4"): 42,
    ("log1p", "f8"): 54,
    ("softplus", "f4"): 43,
    ("softplus", "f8"): 57,
    ("erf", "f4"): 35,
    ("erf", "f8"): 56,
    ("erfc", "f4"): 50,
    ("erfc", "f8"): 68,
    ("gelu", "f4"): 69,
    ("gelu", "f8"): 86,
    ("sin", "f4"): 91,
    ("sin", "f8"): 166,
    ("cos", "f4"): 91,
    ("cos", "f8"): 168,
    ("sqrt", "f4"): 38,
    ("sqrt", "f8"): 42,
}

needs_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="f64 is checked against a wider long double"
)
both_roundings = pytest.mark.parametrize("fused", [False, True], ids=["plain", "fused"])
every_function = pytest.mark.parametrize("name", UNARY)


def check(recipe, exact_function, *arrays: Array, fused: bool, limit: float | None = None) -> None:
    result, _ = carry_out(recipe, *arrays, fused=fused)
    with np.errstate(all="ignore"):
        exact = exact_function(*(a.astype(WIDER[a.dtype]) for a in arrays))
    distance = ulp_distance(result, exact)
    worst = int(np.argmax(distance))
    limit = limit or LIMITS[result.dtype]
    arguments = ", ".join(float(a[worst]).hex() for a in arrays)
    assert distance[worst] <= limit, (
        f"f({arguments}) = {result[worst]!r}, not {exact[worst]!r}: {distance[worst]} ulp"
    )


def check_unary(name: str, x: Array, *, fused: bool) -> None:
    limits = (FUSED_LIMITS if fused else PLAIN_LIMITS).get(name)
    limit = None if limits is None else limits[x.dtype == np.float64]
    check(*UNARY[name], x, fused=fused, limit=limit)


def near_turning_points(dtype) -> Array:
    """Where the functions are hardest: around 1, and around multiples of pi/2."""
    generator = np.random.default_rng(7)
    multiples = (np.arange(1, 200_000) * (np.longdouble(np.pi) / 2)).astype(dtype)
    return np.concatenate(
        [
            generator.uniform(0.5, 2, 200_000).astype(dtype),
            (
                1 + generator.uniform(-1, 1, 50_000) * 2.0 ** -generator.integers(0, 53, 50_000)
            ).astype(dtype),
            multiples,
            np.nextafter(multiples, dtype(0)),
            np.nextafter(multiples, dtype(np.inf)),
            generator.uniform(-1100, 1100, 200_000).astype(dtype),
            generator.uniform(-4, 4, 200_000).astype(dtype),
        ]
    )


@pytest.mark.sampled(15)
@both_roundings
@every_function
def test_f32_strided(name, fused):
    for x in f32_patterns(1009):
        check_unary(name, x, fused=fused)


@pytest.mark.slow
@both_roundings
@every_function
def test_f32_every_pattern(name, fused):
    for x in f32_patterns(1):
        check_unary(name, x, fused=fused)


@pytest.mark.sampled(12)
@both_roundings
@every_function
def test_f32_turning_points(name, fused):
    check_unary(name, near_turning_points(np.float32), fused=fused)
    check_unary(name, special_values(np.float32), fused=fused)


@pytest.mark.sampled(13)
@needs_long_double
@both_roundings
@every_function
def test_f64(name, fused):
    step = SAMPLED_F64.get(name, 1)
    check_unary(name, random_patterns(np.float64, 300_000, seed=1)[::step], fused=fused)
    check_unary(name, near_turning_points(np.float64)[::step], fused=fused)
    check_unary(name, special_values(np.float64), fused=fused)


@needs_long_double
@both_roundings
def test_erfc_where_it_is_small(fused):
    """To the least subnormal, and on both sides of where it rounds to 0."""
    generator = np.random.default_rng(12)
    for dtype, high in ((np.float32, 10.1), (np.float64, 27.3)):
        x = generator.uniform(0, high, 4000).astype(dtype)
        check_unary("erfc", np.concatenate([x, -x / 4]), fused=fused)
        result, _ = carry_out(erfc, np.array([high - 0.1, high], dtype), fused=fused)
        assert result[0] > 0 == result[1]


@pytest.mark.sampled(2)
@needs_long_double
@both_roundings
def test_gelu_of_every_size_of_result(fused):
    """To the least subnormal, beyond it, and where one less the probability is small."""
    generator = np.random.default_rng(14)
    for dtype, low, count in ((np.float32, -14.4, 400_000), (np.float64, -38.6, 4000)):
        for first, last in ((low, 0.8 * low), (low, 6), (-2, 0.5), (-0.07, 0.07)):
            check_unary("gelu", generator.uniform(first, last, count).astype(dtype), fused=fused)
        ends = np.array([0.98 * low, low, -np.finfo(dtype).max, -0.0], dtype)
        result, _ = carry_out(gelu, ends, fused=fused)
        assert np.signbit(result).all()
        assert result[0] < 0 == abs(result[1:]).max()


@needs_long_double
@both_roundings
def test_softplus_of_every_size_of_result(fused):
    """Where the recipe divides 1 + e^-|x|, to the least subnormal, and beyond it."""
    generator = np.random.default_rng(13)
    for dtype, low in ((np.float32, -104.1), (np.float64, -745.2)):
        ends = ((-1.3, -1.1), (-20, 2), (low, 0.8 * low), (low, -low))
        for first, last in ends:
            check_unary(
                "softplus", generator.uniform(first, last, 200_000).astype(dtype), fused=fused
            )
        result, _ = carry_out(softplus, np.array([low + 0.5, low], dtype), fused=fused)
        assert result[0] > 0 == result[1]


@both_roundings
def test_log10_of_powers_of_ten_is_exact(fused):
    for dtype, count in ((np.float32, 11), (np.float64, 23)):
        exponents = np.arange(count)
        x = np.array([10**n for n in range(count)], dtype)
        np.testing.assert_array_equal(carry_out(log10, x, fused=fused)[0], exponents)


def test_sqrt_f32_is_correctly_rounded():
    """For every significand, and exponents of both parities."""
    x = np.arange(0x3F800000, 0x40800000, dtype=np.uint32).view(np.float32)
    result, _ = carry_out(sqrt, x)
    np.testing.assert_array_equal(result, np.sqrt(x))


@both_roundings
def test_sin_where_the_reductions_meet(fused):
    for dtype in (np.float32, np.float64):
        limit = dtype(FORMATS["f32" if dtype is np.float32 else "f64"].sine_limit)
        bits = limit.view(f"u{limit.itemsize}") + np.arange(-5000, 5000)
        check(sin, np.sin, bits.astype(f"u{limit.itemsize}").view(dtype), fused=fused)


@both_roundings
def test_sin_next_to_multiples_of_pi(fused):
    """The numbers closest to one, by the continued fractions of 2^e / pi, and their sines."""
    f64 = [
        (6381956970095103, 798, -9.374331848509255222e-19),
        (6381956970095103, 799, 1.874866369701851044e-18),
        (5916243447979695, 80, 3.641713275476434579e-18),
    ]
    f32 = [
        (16367173, 73, -3.229539596495242371e-9),
        (10741887, 12, -4.025292063837105138e-9),
        (10741887, 13, 8.050584127674210210e-9),
    ]
    for dtype, cases in ((np.float32, f32), (np.float64, f64)):
        x = np.array([np.ldexp(float(m), e) for m, e, _ in cases], dtype)
        result, _ = carry_out(sin, x, fused=fused)
        exact = np.array([sine for _, _, sine in cases], WIDER[x.dtype])
        assert ulp_distance(result, exact).max() <= LIMITS[x.dtype]


def test_sin_stays_in_its_interval():
    """min_max promises [-1, 1]."""
    quarter_turns = (np.arange(1, 100_000, 2) * (np.pi / 2)).astype(np.float32)
    for x in (quarter_turns, np.nextafter(quarter_turns, np.float32(0)), *f32_patterns(10007)):
        result, _ = carry_out(sin, x[np.isfinite(x)])
        assert np.abs(result).max() <= 1


@both_roundings
@pytest.mark.parametrize(
    "dtype", [np.float32, pytest.param(np.float64, marks=needs_long_double)], ids=["f32", "f64"]
)
class TestPower:
    def test_random(self, dtype, fused):
        check(
            power,
            np.power,
            random_patterns(dtype, 200_000, seed=2),
            random_patterns(dtype, 200_000, seed=3),
            fused=fused,
        )

    def test_results_of_every_exponent(self, dtype, fused):
        """x of every exponent and near 1, y such that x^y is finite."""
        generator = np.random.default_rng(4)
        info = np.finfo(dtype)
        count = 200_000
        near_one = 1 + generator.uniform(-1, 1, count) * 2.0 ** -generator.integers(
            1, info.nmant, count
        )
        for x in (np.abs(random_patterns(dtype, count, seed=5)), near_one.astype(dtype)):
            with np.errstate(all="ignore"):
                exponent = generator.uniform(info.minexp - info.nmant, info.maxexp, count)
                y = (exponent / np.log2(x)).astype(dtype)
            check(power, np.power, x, y, fused=fused)

    def test_integral_exponents(self, dtype, fused):
        generator = np.random.default_rng(6)
        x = random_patterns(dtype, 100_000, seed=7)
        y = generator.integers(-40, 40, 100_000).astype(dtype)
        check(power, np.power, x, y, fused=fused)
        check(power, np.power, generator.integers(-60, 60, 100_000).astype(dtype), y, fused=fused)

    def test_special_values(self, dtype, fused):
        values = special_values(dtype)
        x, y = (grid.ravel() for grid in np.meshgrid(values, values))
        check(power, np.power, x, y, fused=fused)


@pytest.mark.sampled(2)
@both_roundings
@pytest.mark.parametrize(
    "dtype", [np.float32, pytest.param(np.float64, marks=needs_long_double)], ids=["f32", "f64"]
)
def test_gate(dtype, fused):
    """Of sigmoids and silus, of arguments of every exponent, and where results are subnormal."""
    generator = np.random.default_rng(12)
    largest = -1.05 * float(np.log(np.finfo(dtype).smallest_subnormal))
    ranges = (1, 4, 20, 90, largest)
    t = np.concatenate([generator.uniform(-r, r, 100_000) for r in ranges]).astype(dtype)
    exact, limit = ARITHMETIC["tg.gate"], 1 if fused else 2
    for arguments in (t, random_patterns(dtype, 200_000, seed=13), special_values(dtype)):
        check(gate, exact, np.ones_like(arguments), arguments, fused=fused, limit=limit)
        check(gate, exact, arguments, arguments, fused=fused, limit=limit)
    check(
        gate, exact, random_patterns(dtype, t.size, seed=14), 3 * t, fused=fused, limit=1.1 * limit
    )
    wide = WIDER[np.dtype(dtype)](1.702) * t
    argument = wide.astype(dtype)
    lost = (wide - argument).astype(dtype)
    check(gate, exact, t, argument, lost, fused=fused, limit=limit)
    # Where a subnormal product is rounded twice, a result of 0 may have another sign.
    special = special_values(dtype)
    factors = special[(np.abs(special) >= np.finfo(dtype).tiny) | (special == 0)]
    x, t = (grid.ravel() for grid in np.meshgrid(special if fused else factors, special))
    check(gate, exact, x, t, fused=fused, limit=limit)


def test_power_special_values_of_c99():
    """F.9.4.4 of the standard, said once without NumPy."""
    inf, nan = np.inf, np.nan
    table = [
        *((0.0, -3.0, inf), (-0.0, -3.0, -inf), (-0.0, -2.0, inf), (0.0, -inf, inf)),
        *((-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-1.0, inf, 1.0), (-1.0, -inf, 1.0)),
        *((1.0, nan, 1.0), (nan, 0.0, 1.0), (nan, -0.0, 1.0), (-8.0, 1 / 3, nan)),
        *((0.5, -inf, inf), (2.0, -inf, 0.0), (0.5, inf, 0.0), (-2.0, inf, inf)),
        *((-inf, -3.0, -0.0), (-inf, -2.5, 0.0), (-inf, 3.0, -inf), (-inf, 2.5, inf)),
        *((inf, -1e-30, 0.0), (inf, 1e-30, inf), (nan, 1.0, nan), (2.0, nan, nan)),
    ]
    for dtype in (np.float32, np.float64):
        x, y, expected = (np.array(column, dtype) for column in zip(*table, strict=True))
        result, _ = carry_out(power, x, y)
        np.testing.assert_array_equal(result, expected)
        finite = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(result[finite]), np.signbit(expected[finite]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_fmod_is_exact(dtype):
    """Quotients of all sizes, whole ones and those next to them, and special values."""
    generator = np.random.default_rng(8)
    count = 100_000
    values = special_values(dtype)
    y = generator.standard_normal(count).astype(dtype)
    whole = y * generator.integers(0, 1 << (22 if dtype is np.float32 else 51), count)
    near_one = dtype(2) - generator.uniform(0, 1, count) * 2.0 ** -generator.integers(1, 50, count)
    cases = [
        (random_patterns(dtype, count, seed=9), random_patterns(dtype, count, seed=10)),
        (random_patterns(dtype, count, seed=11), near_one.astype(dtype)),
        (whole.astype(dtype), y),
        (np.nextafter(whole.astype(dtype), dtype(0)), y),
        tuple(grid.ravel() for grid in np.meshgrid(values, values)),
    ]
    for x, y in cases:
        result, _ = carry_out(fmod, x, y)
        with np.errstate(all="ignore"):
            exact = np.fmod(x, y)
        np.testing.assert_array_equal(result, exact)
        is_number = ~np.isnan(exact)
        np.testing.assert_array_equal(np.signbit(result)[is_number], np.signbit(exact)[is_number])


def test_special_values_of_c99():
    inf, nan = np.inf, np.nan
    for dtype in (np.float32, np.float64):
        x = np.array([0.0, -0.0, inf, -inf, nan, 1.0, -1.0], dtype)
        for recipe, expected in (
            (exp2, [1, 1, inf, 0, nan, 2, 0.5]),
            (log, [-inf, -inf, inf, nan, nan, 0, nan]),
            (log2, [-inf, -inf, inf, nan, nan, 0, nan]),
            (log10, [-inf, -inf, inf, nan, nan, 0, nan]),
            (sqrt, [0, -0.0, inf, nan, nan, 1, nan]),
            (erfc, [1, 1, 0, 2, nan]),
            (softplus, [np.log(2), np.log(2), inf, 0, nan]),
            (gelu, [0, -0.0, inf, nan, nan]),
        ):
            result, _ = carry_out(recipe, x[: len(expected)])
            np.testing.assert_array_equal(result, np.array(expected, dtype))
        for recipe, expected in ((log2, 0.0), (log, 0.0), (log10, 0.0), (sqrt, 1.0)):
            assert not np.signbit(carry_out(recipe, x[5:6])[0]).any(), expected
        signs = np.signbit(carry_out(sin, x[:2])[0])
        np.testing.assert_array_equal(signs, [False, True])


def test_number_of_operations():
    """What a vector register of results costs; bitcasts and constants are free."""
    for (name, dtype), expected in OPERATIONS.items():
        _, counts = carry_out(RECIPES[name], np.ones(1, dtype))
        assert counts.total() - counts["bitcast"] <= expected, name


@pytest.mark.parametrize(
    ("counter", "key", "block"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_known_answers(counter, key, block):
    """The published vectors of threefry2x32 with 20 rounds."""

    def packed(pair):
        return np.array([pair[0] | pair[1] << 32], np.uint64)

    result, _ = carry_out(threefry, packed(counter), packed(key))
    np.testing.assert_array_equal(result, packed(block))
