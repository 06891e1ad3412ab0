"""The bounds of elementwise ops: how far the exact result of an op may be from that of operands
within their errors. What the op rounds comes on top."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from xdsl.ir import Operation

from tgdialect.ops import tg
from tgdialect.transforms.error_bound.values import BoundedValues
from tgdialect.transforms.tg_semantics import Tg

FUNCTION_ULPS = 4
"""The most units in the last place by which two evaluations of a transcendental function differ:
docs/semantics.md allows 3.5, and the interpreter's is within half of one."""

ULPS: Mapping[str, int] = {
    **dict.fromkeys(("tg.mul", "tg.mulacc"), 1),
    **dict.fromkeys(("tg.div", "tg.recip", "tg.sqrt"), 2),
    **dict.fromkeys(("tg.exp2", "tg.exp", "tg.expm1", "tg.softplus"), FUNCTION_ULPS),
    **dict.fromkeys(("tg.log2", "tg.log", "tg.log10", "tg.log1p"), FUNCTION_ULPS),
    **dict.fromkeys(("tg.sin", "tg.cos", "tg.erf", "tg.erfc"), FUNCTION_ULPS),
    **dict.fromkeys(("tg.gelu", "tg.gate", "tg.pow"), FUNCTION_ULPS),
    **dict.fromkeys(("tg.logaddexp", "tg.lgamma"), FUNCTION_ULPS),
}
"""Units in the last place by which results differ though their operands are the same. Other float
ops are rounded correctly: equal operands have equal results."""

_COUNTS_AS_ZERO = 2.0**-123
"""A number above e^-86, below which a softmax in blocks leaves out exponentials, and above the
subnormal numbers of f32."""

_LN_2 = math.log(2)
"""The slope of the exponent of EXP2, and the inverse of that of LOG2."""
_STEEPEST_ERF = 2 / math.sqrt(math.pi)
"""The greatest slope of ERF and ERFC, at 0."""
_STEEPEST_GELU = 1.13
"""Above the greatest slope of GELU, 1.1290, at the square root of 2."""


def relative(dtype: tg.DType, ulps: int) -> float:
    """The relative difference of two results within so many ulps: of narrow floats, which are
    computed in f32, ulps of f32 and a rounding."""
    own, computed = 2.0**-dtype.precision, 2.0 ** -max(dtype.precision, 24)
    return 2 * own + 2 * (ulps - 1) * computed


def least(dtype: tg.DType) -> float:
    """The absolute error of what is too small for the relative one: the last digit of subnormal
    numbers, or all of what counts as 0, which are f32 subnormals for some instructions, and e^-86
    for a softmax in blocks."""
    subnormal = 2.0 ** (dtype.min_exponent - dtype.precision + 1)
    return subnormal if dtype.bits > 32 else max(subnormal, _COUNTS_AS_ZERO)


class Site:
    """The operands of an op, for the rules."""

    def __init__(self, values: BoundedValues, op: Operation) -> None:
        self._values = values
        self.op = op

    def value(self, i: int) -> Tg:
        return self._values.value(self.op.operands[i])

    def size(self, i: int) -> Tg:
        return self._values.magnitude(self.op.operands[i])

    def error(self, i: int) -> Tg | None:
        return self._values.error(self.op.operands[i])

    @property
    def computed(self) -> Tg:
        """The result."""
        return self._values.value(self.op.results[0])

    @property
    def result_size(self) -> Tg:
        """The absolute value of the result."""
        return self._values.magnitude(self.op.results[0])

    def any_error(self) -> Tg | None:
        return sum_of(*(self.error(i) for i in range(len(self.op.operands))))


Rule = Callable[[Site], "Tg | None"]
"""The bound of an op's exact result, given those of its operands."""


def sum_of(*errors: Tg | None) -> Tg | None:
    result: Tg | None = None
    for each in errors:
        if each is not None:
            result = each if result is None else result + each
    return result


def _greatest(*errors: Tg | None) -> Tg | None:
    known = [each for each in errors if each is not None]
    if not known:
        return None
    result = known[0] if len(known) == len(errors) else known[0].applied("max", 0.0)
    for each in known[1:]:
        result = result.applied("max", each)
    return result


def unknown(error: Tg) -> Tg:
    """Infinite where there is an error."""
    return error.ne(0.0).where(error.constant(math.inf), 0.0)


def at_most_one(error: Tg) -> Tg:
    return error.ne(0.0).where(error.constant(1.0), 0.0)


def where_any(error: Tg, bound: Tg) -> Tg:
    """A bound that may be NaN where there is no error."""
    return error.ne(0.0).where(bound, 0.0)


def no_error_or_unknown(site: Site) -> Tg | None:
    error = site.any_error()
    return None if error is None else unknown(error)


def truncation(x: Tg, error: Tg) -> Tg:
    """The difference of the whole numbers of a value within its error."""
    low, high = (x - error).trunc(), (x + error).trunc()
    return where_any(error, (high - x.trunc()).applied("max", x.trunc() - low))


def _product(site: Site) -> Tg | None:
    a, b = site.error(0), site.error(1)
    left = None if a is None else where_any(a, a * site.size(1))
    right = None if b is None else where_any(b, b * _plus(site.size(0), a))
    return sum_of(left, right)


def _plus(size: Tg, error: Tg | None) -> Tg:
    return size if error is None else size + error


def _unary(bound: Callable[[Site, Tg], Tg]) -> Rule:
    """The rule of a function of one operand with an error."""

    def rule(site: Site) -> Tg | None:
        error = site.error(0)
        return None if error is None else where_any(error, bound(site, error))

    return rule


def _slope(steepest: float, most: float = math.inf) -> Rule:
    """The rule of a function that is nowhere steeper, and whose values differ by `most`."""

    def bound(_: Site, error: Tg) -> Tg:
        scaled = error if steepest == 1 else error * steepest
        return scaled if most == math.inf else (scaled < most).where(scaled, most)

    return _unary(bound)


def _exponential(scale: float = 1.0, offset: float = 0.0) -> Rule:
    """e^t - 1 is at most t (1 + t) for t up to 1.79."""

    def bound(site: Site, error: Tg) -> Tg:
        return _growth_of(error * scale if scale != 1 else error, site.result_size + offset)

    return _unary(bound)


def _growth_of(exponent: Tg, size: Tg) -> Tg:
    """The error of an exponential of some size, for an error of its exponent."""
    return (exponent <= 1.0).where(size * (exponent * (exponent + 1.0)), math.inf)


def _logarithm(scale: float = 1.0, offset: float = 0.0) -> Rule:
    def bound(site: Site, error: Tg) -> Tg:
        least = site.value(0) + offset - error
        return (least > 0.0).where(error / least * scale, math.inf)

    return _unary(bound)


def _root_bound(site: Site, error: Tg) -> Tg:
    by_slope, root = error / site.result_size, error.applied("sqrt")
    return (site.value(0) > error).where(by_slope, root)


def _reciprocal(site: Site, error: Tg) -> Tg:
    size = site.size(0)
    return (size > error).where(error / (size * (size - error)), math.inf)


def _quotient(site: Site) -> Tg | None:
    a, b = site.error(0), site.error(1)
    if b is None:
        return None if a is None else where_any(a, a / site.size(1))
    size = site.size(1)
    above = site.result_size * b if a is None else a + site.result_size * b
    bound = (size > b).where(above / (size - b), math.inf)
    return where_any(b if a is None else a + b, bound)


def _power(site: Site) -> Tg | None:
    a, b = site.error(0), site.error(1)
    if a is None and b is None:
        return None
    terms: list[Tg] = []
    if b is not None:
        terms.append(where_any(b, b * _plus_log(site)))
    if a is not None:
        least = site.size(0) - a
        relative = where_any(a, (least > 0.0).where(a / least, math.inf))
        terms.append(relative * _plus(site.size(1), b))
    exponent = terms[0] if len(terms) == 1 else terms[0] + terms[1]
    return where_any(exponent, _growth_of(exponent, site.result_size))


def _plus_log(site: Site) -> Tg:
    log = site.size(0).applied("log")
    return log.applied("max", -log)


def _gate_bound(site: Site) -> Tg | None:
    slope = sum_of(site.error(1), site.error(2) if len(site.op.operands) > 2 else None)
    by_gate = None if slope is None else where_any(slope, _growth_of(slope, site.result_size))
    return sum_of(site.error(0), by_gate)


def _multiply_add(site: Site) -> Tg | None:
    product = site.size(0) * site.size(1)
    unit = relative(tg.dtype_of(site.op.results[0]), 1)
    return sum_of(_product(site), site.error(2), product * unit)


def _log_add(site: Site) -> Tg | None:
    largest = site.size(0).applied("max", site.size(1))
    finite = (largest < math.inf).where(largest, 0.0)
    unit = relative(tg.dtype_of(site.op.results[0]), 1)
    return sum_of(_greatest(site.error(0), site.error(1)), finite * unit)


def _log_gamma(site: Site) -> Tg | None:
    """The second operand may be the result, or be computed again."""
    approximation, result = site.value(1), site.computed
    distance = (approximation - result).applied("max", result - approximation)
    same = approximation.eq(result).where(approximation.constant(0.0), distance)
    again = site.error(0)
    return sum_of(same, site.error(1), None if again is None else unknown(again))


FLOATS: Mapping[str, Rule] = {
    "tg.add": lambda site: sum_of(site.error(0), site.error(1)),
    "tg.sub": lambda site: sum_of(site.error(0), site.error(1)),
    "tg.neg": lambda site: site.error(0),
    "tg.mul": _product,
    "tg.mulacc": _multiply_add,
    "tg.div": _quotient,
    "tg.recip": _unary(_reciprocal),
    "tg.max": lambda site: _greatest(site.error(0), site.error(1)),
    "tg.trunc": _unary(lambda site, error: truncation(site.value(0), error)),
    "tg.sqrt": _unary(_root_bound),
    "tg.exp": _exponential(),
    "tg.exp2": _exponential(_LN_2),
    "tg.expm1": _exponential(1.0, 1.0),
    "tg.log": _logarithm(),
    "tg.log2": _logarithm(1 / _LN_2),
    "tg.log10": _logarithm(1 / math.log(10)),
    "tg.log1p": _logarithm(1.0, 1.0),
    "tg.softplus": _slope(1.0),
    "tg.sin": _slope(1.0, 2.0),
    "tg.cos": _slope(1.0, 2.0),
    "tg.erf": _slope(_STEEPEST_ERF, 2.0),
    "tg.erfc": _slope(_STEEPEST_ERF, 2.0),
    "tg.gelu": _slope(_STEEPEST_GELU),
    "tg.gate": _gate_bound,
    "tg.pow": _power,
    "tg.logaddexp": _log_add,
    "tg.lgamma": _log_gamma,
}
"""Float ops. The result of any other is not known if an operand has an error."""

INTEGERS: Mapping[str, Rule] = {
    **{name: FLOATS[name] for name in ("tg.add", "tg.sub", "tg.neg", "tg.mul", "tg.max")},
    **dict.fromkeys(("tg.and", "tg.or", "tg.xor", "tg.not"), no_error_or_unknown),
}
"""Ops of integers and bools. That of a bool is at most 1."""
