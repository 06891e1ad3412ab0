"""Extents and other index values as expressions in the index arguments of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, BlockArgument, SSAValue

from tgdialect.analysis.limits import MANY
from tgdialect.analysis.min_max import UNBOUNDED, MinMax
from tgdialect.ops import tg
from tgdialect.ops.affine import monomials
from tgdialect.ops.expressions import (
    OPERATIONS,
    WRAP,
    Expression,
    applied,
    argument_at,
    parsed,
    text_of,
)

_FACTORS = OPERATIONS.keys() - {"neg", "add", "sub", "mul", "shl", "shr"}
"""The operations that compute factors. Sums and products of index values are the expression itself;
those of bools are other operations."""


def is_index(value: SSAValue) -> bool:
    """Whether a value is an index scalar."""
    return value.type == tg.tensor_type(tg.INDEX)


def index_arguments(arguments: Iterable[BlockArgument]) -> dict[SSAValue, Expression]:
    """The index arguments of a function as expressions. Those that are computed from others
    (`tg.computed`) are that, so that equal extents are equal expressions."""
    known: dict[SSAValue, Expression] = {}
    for argument in arguments:
        if is_index(argument):
            text = tg.computed_attribute(tg.argument_attributes(argument))
            known[argument] = argument_at(argument.index) if text is None else parsed(text)
    return known


def index_expression(dim: tg.Dim, known: Mapping[SSAValue, Expression]) -> Expression | None:
    """An extent as a sum of products of known values and of what is computed from them; None if it
    depends on anything else, or an expression is long."""
    found: dict[SSAValue, Expression | None] = dict(known)

    def factor(value: SSAValue) -> Expression | None:
        expression = _computed(value, found)
        return None if expression is None or len(expression) > MANY else expression

    for each in _factors(dim):
        tg.computed(each, found, _sources, factor)
    return _sum(dim, found)


def _sum(dim: tg.Dim, known: Mapping[SSAValue, Expression | None]) -> Expression | None:
    """An extent as a sum of products of known values, in an order that does not depend on that of
    the program; None if it depends on others."""
    terms: list[Expression] = []
    for factors, coefficient in monomials(tg.polynomial(dim)):
        found: list[Expression] = []
        for factor in factors:
            computed = known.get(factor) if isinstance(factor, SSAValue) else None
            if computed is None:
                return None
            found.append(computed)
        scale: list[Expression] = [] if coefficient == 1 and found else [(coefficient,)]
        terms.append(reduce(partial(applied, "mul"), [*scale, *sorted(found, key=repr)]))
    return reduce(partial(applied, "add"), sorted(terms, key=repr) or [(0,)])


class ComputedExtents:
    """The index arguments of a function that no caller passes: extents that each call computes
    from the other index arguments."""

    def __init__(
        self,
        known: Mapping[SSAValue, Expression],
        arguments: Mapping[SSAValue, int],
        add: Callable[[Mapping[str, Attribute], str], tuple[SSAValue, int]],
    ) -> None:
        """`known` are the expressions of the index arguments, `arguments` their positions. `add`
        makes an argument of some attributes and of a name, after them, and returns it with its
        position."""
        self._add = add
        self._known = dict(known)
        self._seen: dict[SSAValue, Expression | None] = dict(known)
        self._arguments: dict[Expression, tuple[SSAValue, int]] = {}
        for argument, position in arguments.items():
            for expression in (argument_at(position), known[argument]):
                self._arguments[expression] = argument, position
        self._min_max = MinMax()

    def argument(self, dim: tg.Dim) -> SSAValue | None:
        """The index argument whose value is an extent in each call, a new one if there is none;
        None if the extent depends on other things than index arguments."""
        for factor in _factors(dim):
            tg.computed(factor, self._seen, _sources, self._factor)
        expression = _sum(dim, self._known)
        if expression is None:
            return None
        if expression not in self._arguments:
            # No call has a negative extent.
            interval = tg.Interval(0, UNBOUNDED)
            if isinstance(dim, SSAValue):
                interval = self._min_max[dim]
            bounds = {"tg.min": max(int(interval.lo), 0)}
            if interval.hi < UNBOUNDED:
                bounds["tg.max"] = max(int(interval.hi), 0)
            self._put(expression, dim, bounds)
        return self._arguments[expression][0]

    def _factor(self, value: SSAValue) -> Expression | None:
        """The expression of a factor, whose own factors are known: an argument if it is long, so
        that expressions do not grow with the number of ops that compute them."""
        expression = _computed(value, self._known)
        if expression is not None:
            if len(expression) > MANY:
                if expression not in self._arguments:
                    self._put(expression, value, {})
                expression = argument_at(self._arguments[expression][1])
            self._known[value] = expression
        return expression

    def _put(self, expression: Expression, dim: tg.Dim, bounds: Mapping[str, int]) -> None:
        """Make an argument for an expression."""
        attributes: dict[str, Attribute] = {"tg.computed": StringAttr(text_of(expression))}
        attributes |= {name: IntegerAttr(bound, tg.INDEX) for name, bound in bounds.items()}
        name = dim.name_hint if isinstance(dim, SSAValue) else None
        self._arguments[expression] = self._add(attributes, name or "size")


def _factors(dim: tg.Dim) -> Sequence[SSAValue]:
    """The values that the products of an extent have as factors."""
    terms = tg.polynomial(dim).terms
    return [f for factors in terms for f in factors if isinstance(f, SSAValue)]


def _sources(value: SSAValue) -> Sequence[SSAValue]:
    """The factors of the extents that an op computes a value from."""
    op = value.owner
    if not isinstance(op, tg.ElementwiseOp) or tg.tensor(value).get_shape():
        return ()
    return [factor for operand in op.operands for factor in _factors(operand)]


def _computed(value: SSAValue, known: Mapping[SSAValue, Expression | None]) -> Expression | None:
    """A scalar that an op computes from index values and bools."""
    op = value.owner
    if not isinstance(op, tg.ElementwiseOp) or tg.tensor(value).get_shape():
        return None
    dtype, name = tg.dtype_of(value), op.name.removeprefix("tg.")
    bounds: tuple[Expression, ...] = ()
    if isinstance(op, tg.CastOp):
        if dtype.is_float or dtype.is_bool or tg.dtype_of(op.source).is_float:
            return None
        name, bounds = WRAP, ((int(dtype.low),), (int(dtype.high),))
    elif not all(tg.dtype_of(each).name in ("i1", "index") for each in (*op.operands, value)):
        return None
    operands = [_sum(operand, known) for operand in op.operands]
    found = [operand for operand in operands if operand is not None]
    if name not in _FACTORS or len(found) < len(operands):
        return None
    return applied(name, *found, *bounds)
