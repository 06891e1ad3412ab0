"""Sums in linear form: ADD, SUB, NEG, and MUL, SHL and MULACC by a constant. CASTs of integers."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.affine import Linear
from tgdialect.ops.dtypes import Kind
from tgdialect.transforms.simplify.engine import Engine, is_even
from tgdialect.transforms.simplify.matching import integer_of
from tgdialect.transforms.simplify.recombination import recombine

MAX_TERMS = 32
"""The greatest number of terms of a linear form. A longer sum is an atom of other sums, which keeps
the work linear in the size of the program."""
MAX_UNSIGNED_TERMS = 2
"""The same limit for unsigned sums, which are not indices. A chain of additions such as THREEFRY's
uses each partial sum, so expanding every one of them would take quadratic time."""


def simplify_sum(engine: Engine, op: Operation) -> SSAValue | None:
    """Rebuild a sum if its linear form takes fewer ops, or reuse an equal sum."""
    # Compute the linear form.
    result = op.results[0]
    dtype = tg.dtype_of(result)
    if not dtype.is_integer or not is_even(op):
        return None
    summands = _summands(engine, op, dtype)
    if summands is None:
        return None
    form = sum(summands[1:], summands[0])
    is_unsigned = dtype.kind is Kind.UNSIGNED
    if len(form.terms) > (MAX_UNSIGNED_TERMS if is_unsigned else MAX_TERMS):
        return None
    # Simplify the form. A cancelled atom may have had invalid cells; then the sum must stay.
    form = recombine(engine, form.wrapped(dtype), result)
    cancelled = any(atom not in form.terms for s in summands for atom in s.terms)
    if cancelled and not engine.validity[result]:
        return None
    # Replace the op if an equal sum exists, or if the form takes fewer ops than the op's operands.
    written = 1 + engine.written_cost(op)
    known = engine.sums.get(form)
    # With the constant added last, other sums can share the rest.
    is_inside = op.name == "tg.add" and form.constant != 0 and integer_of(op.operands[1]) is None
    if known is not None or form.cost < written + is_inside:
        return engine.widened(known or engine.emit(form, result), result)
    engine.forms[result] = form
    engine.costs[result] = written
    engine.sums[form] = result
    return None


def _summands(engine: Engine, op: Operation, dtype: tg.DType) -> list[Linear] | None:
    """The linear forms whose sum is an op's result; None for a product of two variables."""
    forms = [engine.form(o) for o in op.operands]
    match op.name:
        case "tg.add":
            return forms
        case "tg.sub":
            return [forms[0], -forms[1]]
        case "tg.neg":
            return [-forms[0]]
        case "tg.shl":
            count = integer_of(op.operands[1])
            if count is None or not 0 <= count < dtype.bits:
                return None
            return [forms[0] * (1 << count)]
        case _:
            product, factor = forms[0], integer_of(op.operands[1])
            if factor is None:
                product, factor = forms[1], integer_of(op.operands[0])
            return None if factor is None else [product * factor, *forms[2:]]


def simplify_cast(engine: Engine, op: Operation) -> SSAValue | None:
    """Remove two integer CASTs to a dtype and back, if that dtype holds every possible value."""
    inner = op.operands[0].owner
    if not isinstance(inner, tg.CastOp) or inner.source.type != op.results[0].type:
        return None
    source, middle = tg.dtype_of(inner.source), tg.dtype_of(inner.result)
    if not source.is_integer or not middle.is_integer:
        return None
    fits = engine.min_max[inner.source].within(middle.low, middle.high)
    return inner.source if fits else None
