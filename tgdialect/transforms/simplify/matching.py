"""Applying rules to IR: match the pattern, prove the guards, build the result."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Protocol

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.ops import intervals, tg
from tgdialect.ops.elementwise import OPS
from tgdialect.ops.folding import evaluate
from tgdialect.transforms.simplify.terms import (
    AnyConstant,
    AnyValue,
    Apply,
    Fits,
    Guard,
    Literal,
    Rule,
    Term,
    subterms,
)

REPEATING = frozenset({"tg.reshape", "tg.expand", "tg.permute", "tg.flip", "tg.shrink"})
"""Movement ops that add no cells of their own: applied to a constant, they give that constant."""


def constant_of(value: SSAValue) -> Attribute | None:
    """The number in every cell of a value, if the value is a constant or a movement of one."""
    owner = value.owner
    while isinstance(owner, tg.TgOp) and owner.name in REPEATING:
        owner = owner.operands[0].owner
    if isinstance(owner, tg.TgOp) and owner.name == "tg.const":
        attribute = owner.properties["value"]
        return None if attribute.__class__ is tg.InvalidAttr else attribute
    return None


def integer_of(value: SSAValue) -> int | None:
    """`constant_of` as a Python integer; None also for a float or bool constant."""
    attribute = constant_of(value)
    if attribute is None or not tg.dtype_row(tg.type_of_number(attribute)).is_integer:
        return None
    return int(tg.number(attribute))


def divided(value: SSAValue, name: str) -> tuple[SSAValue, int] | None:
    """The dividend and divisor of a value made by the op `name`, IDIV or MOD.

    None for any other value, and for a divisor that is 0 or not constant.
    """
    owner = value.owner
    if not isinstance(owner, tg.TgOp) or owner.name != name:
        return None
    by = integer_of(owner.operands[1])
    return (owner.operands[0], by) if by else None


def same_extent(a: Attribute, b: Attribute) -> bool:
    """Whether two types are tensors of the same shape and place; dtypes may differ."""
    if a is b:
        return True
    if not tg.is_tensor(a) or not tg.is_tensor(b) or tg.static_shape(a) != tg.static_shape(b):
        return False
    return a.encoding is b.encoding or a.encoding == b.encoding


def repeated(
    scalar: SSAValue, type: Attribute, put: Callable[[Operation], SSAValue]
) -> SSAValue | None:
    """A scalar broadcast to a type, by ops that `put` inserts.

    None for a type of dynamic shape, or in another place than the scalar.
    """
    if scalar.type == type:
        return scalar
    if (
        not tg.is_tensor(type)
        or not type.has_static_shape()
        or tg.place_of(type) != tg.place(scalar)
    ):
        return None
    value = put(tg.ReshapeOp(scalar, (1,) * len(type.get_shape())))
    return value if value.type == type else put(tg.ExpandOp(value, type.get_shape()))


# -- matching ------------------------------------------------------------------------------------

Binding = dict[str, SSAValue]
"""The values that the variables and constants of a rule stand for, by name."""


def match(pattern: Apply, op: Operation) -> Binding | None:
    """The binding under which `pattern` equals `op`; None if it does not match.

    All variables must have the shape and place of the op's result.
    """
    binding: Binding = {}
    extent = op.results[0].type
    for term, operand in zip(pattern.operands, op.operands, strict=True):
        if not _match(term, operand, extent, binding):
            return None
    return binding


def _match(term: Term, value: SSAValue, extent: Attribute, binding: Binding) -> bool:
    match term:
        case AnyValue(name=name, sort=sort):
            if (known := binding.get(name)) is not None:
                return known is value
            binding[name] = value
            return (
                same_extent(value.type, extent)
                and tg.dtype_row(tg.tensor(value).element_type) in sort
            )
        case AnyConstant(name=name):
            if (constant := integer_of(value)) is None:
                return False
            return integer_of(binding.setdefault(name, value)) == constant
        case Literal(value=wanted):
            return (constant := constant_of(value)) is not None and _is_literal(constant, wanted)
        case Apply(op=name, operands=terms):
            owner = value.owner
            if not isinstance(owner, tg.TgOp) or owner.name != name:
                return False
            for inner, operand in zip(terms, owner.operands, strict=True):
                if not _match(inner, operand, extent, binding):
                    return False
            return True
        case _:
            raise TypeError(term)


def _is_literal(constant: Attribute, wanted: float) -> bool:
    value = tg.number(constant)
    if constant.__class__ is FloatAttr:
        return value == wanted and math.copysign(1.0, value) == math.copysign(1.0, wanted)
    dtype = tg.dtype_row(tg.type_of_number(constant))
    return isinstance(wanted, int) and value == tg.wrap_to(dtype, wanted)


Origin = str | frozenset[str]
"""A rule's condition on an operand: the name of its op, or the literals that a constant equals."""


class RuleIndex:
    """Finds the rules that may match an op by its name and by what its operands are made by."""

    def __init__(self, rules: Sequence[Rule]):
        self._by_root: dict[str, list[tuple[Rule, Apply]]] = {}
        for rule in rules:
            for variant in rule.variants:
                self._by_root.setdefault(variant.op, []).append((rule, variant))
        # The text of literals tells -0.0 from 0.0.
        terms = (each for rule in rules for each in subterms(rule.pattern))
        self._literals = {repr(t.value): t.value for t in terms if isinstance(t, Literal)}
        self._equal_literals = lru_cache(maxsize=1024)(self._literals_of)
        self._by_operands: dict[tuple[Origin | bool, ...], list[tuple[Rule, Apply]]] = {}

    @property
    def roots(self) -> Iterable[str]:
        """The names of the ops that some rule rewrites."""
        return self._by_root

    def candidates(self, op: Operation) -> Sequence[tuple[Rule, Apply]]:
        """The rules that may match `op`, each with the variant of its pattern. Those that give a
        bool are for results that are bools: numbers 1 and 0 match their literals, too."""
        if op.name not in self._by_root:
            return ()
        operands = op.operands
        origins = [self._origin(o) for o in operands]
        same = len(operands) == 2 and operands[0] is operands[1]
        is_bool = tg.tensor(op.results[0]).element_type == tg.BOOL
        key = (op.name, same, is_bool, *origins)
        if (found := self._by_operands.get(key)) is None:
            found = [
                (rule, variant)
                for rule, variant in self._by_root[op.name]
                if (is_bool or not rule.gives_bool)
                and all(map(_may_come_from, variant.operands, origins))
                and (same or len(operands) != 2 or variant.operands[0] is not variant.operands[1])
            ]
            self._by_operands[key] = found
        return found

    def _origin(self, value: SSAValue) -> Origin:
        if (constant := constant_of(value)) is not None:
            return self._equal_literals(constant)
        owner = value.owner
        return owner.name if isinstance(owner, tg.TgOp) else ""

    def _literals_of(self, constant: Attribute) -> frozenset[str]:
        """The literals of the rules that a constant equals."""
        return frozenset(
            text for text, literal in self._literals.items() if _is_literal(constant, literal)
        )


def _may_come_from(term: Term, origin: Origin) -> bool:
    match term:
        case Apply(op=name):
            return name == origin
        case AnyValue():
            return True
        case Literal(value=value):
            return not isinstance(origin, str) and repr(value) in origin
        case _:
            return not isinstance(origin, str)


# -- guards --------------------------------------------------------------------------------------

_INTERVALS: dict[str, Callable[[tg.DType, tg.Interval, tg.Interval], tg.Interval]] = {
    "tg.add": intervals.add,
    "tg.sub": intervals.sub,
    "tg.mul": intervals.mul,
    "tg.idiv": intervals.floor_divide,
    "tg.mod": intervals.modulo,
    "tg.and": intervals.bitwise_and,
    "tg.cmplt": lambda dtype, a, b: intervals.less_than(a, b),
    "tg.cmple": lambda dtype, a, b: intervals.logical_not(intervals.less_than(b, a)),
    "tg.cmpne": lambda dtype, a, b: intervals.not_equal(a, b),
    "tg.cmpeq": lambda dtype, a, b: intervals.logical_not(intervals.not_equal(a, b)),
}
"""The interval of each op that guards use, given its operands' intervals."""
_EXACT: dict[str, Callable[[int, int], int]] = {
    "tg.add": operator.add,
    "tg.sub": operator.sub,
    "tg.mul": operator.mul,
    "tg.shl": lambda value, count: value << count,
}
"""The ops that `Fits` guards use, over the integers."""


def proven(guards: Sequence[Guard], binding: Binding, dtype: tg.DType, min_max: MinMax) -> bool:
    """Whether intervals prove every guard, with the terms computed in `dtype`."""
    for guard in guards:
        if isinstance(guard, Fits):
            if _exact(guard.term, binding, dtype, min_max) is None:
                return False
        elif _interval(guard, binding, dtype, min_max).lo != 1:
            return False
    return True


def _interval(term: Term, binding: Binding, dtype: tg.DType, min_max: MinMax) -> tg.Interval:
    match term:
        case AnyValue(name=name) | AnyConstant(name=name):
            return min_max[binding[name]]
        case Literal(value=value):
            return intervals.constant(tg.wrap_to(dtype, int(value)))
        case Apply(op=op, operands=terms):
            sources = [_interval(t, binding, dtype, min_max) for t in terms]
            if all(s.is_constant for s in sources):
                result = tg.DTYPES[tg.BOOL] if issubclass(OPS[op], tg.CompareOp) else dtype
                folded = evaluate(op, dtype, result, [s.lo for s in sources])
                if folded is not None:
                    return intervals.constant(folded)
            return _INTERVALS[op](dtype, *sources)
        case _:
            raise TypeError(term)


def _exact(term: Term, binding: Binding, dtype: tg.DType, min_max: MinMax) -> tg.Interval | None:
    """The interval of a term over the integers; None if some op of the term may wrap."""
    if not isinstance(term, Apply):
        return _interval(term, binding, dtype, min_max)
    sources = [_exact(t, binding, dtype, min_max) for t in term.operands]
    if any(s is None for s in sources):
        return None
    a, b = ((int(s.lo), int(s.hi)) for s in sources if s is not None)
    if term.op == "tg.shl" and not 0 <= b[0] <= b[1] < dtype.bits:
        return None
    # ADD, SUB, MUL and SHL take their extremes at the ends of their operands' intervals.
    corners = [_EXACT[term.op](x, y) for x in a for y in b]
    result = tg.Interval(min(corners), max(corners))
    return result if result.within(dtype.low, dtype.high) else None


# -- building ------------------------------------------------------------------------------------


class ResultEmitter(Protocol):
    """Inserts the ops of a rule's result."""

    def apply(self, op: str, operands: Sequence[SSAValue]) -> SSAValue:
        """The result of an elementwise op on values."""
        ...

    def constant(self, value: Attribute) -> SSAValue:
        """A scalar constant."""
        ...


def operand_dtype(op: Operation, binding: Binding) -> Attribute:
    """The dtype of a rule's arithmetic: the op's, or for a bool that of the compared values."""
    result = tg.tensor(op.results[0]).element_type
    if result != tg.BOOL:
        return result
    for value in (*op.operands, *binding.values()):
        if (element := tg.tensor(value).element_type) != tg.BOOL:
            return element
    return tg.BOOL


def build(
    term: Term, element: Attribute, inner: Attribute, binding: Binding, emitter: ResultEmitter
) -> SSAValue:
    """Build a rule's right side with dtype `element`; the values it compares have dtype `inner`."""
    match term:
        case AnyValue(name=name):
            return binding[name]
        case AnyConstant(name=name):
            constant = constant_of(binding[name])
            assert constant is not None
            return emitter.constant(constant)
        case Literal(value=value):
            dtype = tg.dtype_row(element)
            exact = value if dtype.is_float else tg.wrap_to(dtype, int(value))
            return emitter.constant(tg.number_attribute(exact, element))
        case Apply(op=op, operands=terms):
            if op == "tg.where":
                elements = (tg.BOOL, element, element)
            elif issubclass(OPS[op], tg.CompareOp):
                elements = (inner, inner)
            else:
                elements = (element,) * len(terms)
            operands = [
                build(t, e, inner, binding, emitter) for t, e in zip(terms, elements, strict=True)
            ]
            return emitter.apply(op, operands)
        case _:
            raise TypeError(term)
