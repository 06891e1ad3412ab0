"""Simplification under a condition: in a branch of a WHERE, under the gate of a LOAD or STORE, and
in one operand of an AND or OR, given the other.

A fact is a linear form that is not negative where a comparison holds. For a fact F, k > 0 and any
sum `k * F + R`,

    k * F + R >= R

so the lower bound of R is a lower bound of the sum. Upper bounds follow from the negated sum. A
value that is used only under the condition is copied, and the copy is simplified with these bounds.

A condition with axes, as one on the lanes of a vector, says of each cell what holds in that cell
alone. What moves or joins cells (INDEX, movement ops, REDUCE) is not simplified under it, and its
interval is the one that holds without the condition.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.conditions import conjuncts, order
from tgdialect.analysis.min_max import MinMax, MinMaxOfCells
from tgdialect.ops import tg
from tgdialect.ops.affine import Linear
from tgdialect.ops.elementwise import COMPARISONS
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.properties import device_argument
from tgdialect.transforms.simplify.comparison import is_of_clamp
from tgdialect.transforms.simplify.engine import NAMING, Engine, is_even
from tgdialect.transforms.simplify.matching import constant_of

Shape = tuple[int, ...]

MAX_OPS = 32
"""The greatest number of ops that one simplification under a condition visits. It bounds compile
time; ops farther from the value stay as they are."""
MAX_FACTS = 6
"""The greatest number of facts per condition; facts beyond it are not used. The search for the best
bound of a sum tries subsets of the facts, so its time may double with each. A fact of which several
multiples cancel an atom is tried with each of them, which multiplies the time by their number."""

_WORTHWHILE = frozenset({"tg.idiv", "tg.mod", "tg.max", "tg.where"})
"""Ops that a condition often removes. An operand of a WHERE, AND or OR is copied and simplified
only if it depends on such an op: sums alone do not repay the copy."""
ROUGH = _WORTHWHILE | COMPARISONS
"""Ops that bounds may simplify although their operands stay the same."""


def simplify_where(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify the first branch of a WHERE under the condition, the second under its negation."""
    condition, *branches = op.operands
    new = [
        _simplified(engine, branch, condition, is_true)
        for branch, is_true in zip(branches, (True, False), strict=True)
    ]
    return None if new == branches else engine.apply(op.name, (condition, *new))


def simplify_connective(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify an operand of an AND where the other one is true, of an OR where it is false."""
    left, right = op.operands
    # After `tg-select` an operand stays as it is: gates of several lanes share it, and what another
    # operand implies is left out already.
    if engine.selected or not tg.dtype_of(left).is_bool or left.type != right.type:
        return None
    holds = op.name == "tg.and"
    new = left, _simplified(engine, right, left, holds)
    if new[1] is right:
        new = _simplified(engine, left, right, holds), right
    return None if new == (left, right) else engine.apply(op.name, new)


def simplify_load(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify a LOAD with a gate.

    The location is simplified under the gate. A gate that is true is dropped, and a LOAD whose gate
    is false becomes its alternative value.
    """
    assert isinstance(op, tg.LoadOp)
    if op.gate is None:
        return None
    if (gate := constant_of(op.gate)) is None:
        location = _under(engine, op.buffer, op.gate)
        same = location is op.buffer
        return None if same else engine.insert(op.rebuild((location, *op.operands[1:])))
    if tg.number(gate):
        space = None if op.addrspace is None else tg.AddrSpace(op.addrspace.data)
        return engine.insert(tg.LoadOp(op.buffer, device=device_argument(op), addrspace=space))
    if (alt := op.alt) is None or alt.type != op.result.type:
        return None
    # A LOAD makes invalid cells valid.
    return alt if engine.validity[alt] else engine.insert(tg.LoadOp(alt))


def simplify_store(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify the location and the value of a STORE under its gate; drop a gate that is true."""
    location, value, *gates = op.operands
    if not gates:
        return None
    new = [_under(engine, v, gates[0]) for v in (location, value)]
    if (gate := constant_of(gates[0])) is None or not tg.number(gate):
        new += gates
    if new == list(op.operands):
        return None
    op.operands = new
    return op.results[0]


def _under(engine: Engine, value: SSAValue, gate: SSAValue) -> SSAValue:
    """Simplify a value for the case that a gate is true."""
    return _simplified(engine, value, gate, True, is_worthwhile=True)


def _simplified(
    engine: Engine,
    value: SSAValue,
    condition: SSAValue,
    holds: bool,
    *,
    is_worthwhile: bool = False,
) -> SSAValue:
    """Simplify a value for the case that a condition is true (`holds`), or that it is false.

    The result equals `value` in that case only. A value that depends on no op of `_WORTHWHILE`
    stays as it is, unless `is_worthwhile` is set.
    """
    if isinstance(engine, _Assuming):
        return value  # Conditions do not nest, so the work stays linear.
    if engine.looks_left <= 0:
        return value
    ops = list(_ops_of(engine, value, tg.tensor(condition).get_shape()))
    engine.looks_left -= len(ops)
    if not is_worthwhile and not any(op.name in _WORTHWHILE for op in ops):
        return value
    # Reuse the engine of this condition, or make one with the facts that the condition implies.
    key = condition, holds
    assuming = engine.assuming.get(key)
    if assuming is None:
        conditions = list(conjuncts([(condition, holds)]))
        facts = [f for c in conditions if (f := _fact(engine, *c)) is not None]
        known = dict([(condition, holds), *conditions])
        shape = tg.tensor(condition).get_shape()
        assuming = engine.assuming[key] = _Assuming(engine, known, facts[:MAX_FACTS], shape)
    assert isinstance(assuming, _Assuming)
    return assuming.simplified(value, ops)


def _ops_of(engine: Engine, value: SSAValue, shape: Shape) -> Iterator[tg.TgOp]:
    """The ops that compute a value and that may be copied under a condition of a shape, operands
    first.

    A copy duplicates an op that has other users. So an expensive op (a LOAD, INDEX, REDUCE or float
    op) is copied only if it has one user, or if a LOAD, INDEX or REDUCE is the value itself.

    After `tg-select`, LOADs and float ops are not copied. A LOAD then reads memory even where the
    condition does not hold. The engine skips float ops, so CSE would not merge equal copies.
    """
    seen: set[Operation] = set()

    def visit(inner: SSAValue) -> Iterator[tg.TgOp]:
        op = inner.owner
        if isinstance(op, tg.LoadOp) and engine.selected:
            is_taken = False
        elif isinstance(op, tg.LoadOp | tg.IndexOp | tg.ReduceOp):
            is_taken = (inner is value or _is_read_once(inner)) and _keeps_cells(op, shape)
        else:
            is_taken = isinstance(op, tg.ElementwiseOp) and (
                not tg.dtype_of(inner).is_float or (not engine.selected and _is_read_once(inner))
            )
        if is_taken and isinstance(op, tg.TgOp) and op not in seen and len(seen) < MAX_OPS:
            seen.add(op)
            for operand in op.operands:
                yield from visit(operand)
            yield op

    return visit(value)


def _keeps_cells(op: tg.LoadOp | tg.IndexOp | tg.ReduceOp, shape: Shape) -> bool:
    """Whether each cell of an op's result is computed from the operands' cells at its place, where
    a condition of a shape says something of them."""
    match op:
        case tg.IndexOp() if shape:
            indices = [tg.tensor(index).get_shape() for index in op.indices]
            return tg.is_memory(op.source) and indices == [shape]
        case tg.ReduceOp() if shape:
            return not op.axes.get_values()
        case _:
            return True


def _is_read_once(value: SSAValue) -> bool:
    """Whether a value has at most one use, not counting ops whose results have no uses left."""
    results = (use.operation.results for use in value.uses)
    return sum(not r or any(x.first_use is not None for x in r) for r in results) <= 1


class _Assuming(Engine):
    """Simplifies values under one set of conditions. Its cached facts hold only under them."""

    may_store = False

    def __init__(
        self,
        outer: Engine,
        conditions: Mapping[SSAValue, bool],
        facts: Sequence[Linear],
        shape: Shape,
    ) -> None:
        """Make an engine for the case that each bool of `conditions` has the outcome given there,
        in the cells of a shape.

        `facts` are linear forms that are not negative in that case.
        """
        super().__init__(outer.handlers, outer._repair)
        self.selected = outer.selected
        self._outer = outer
        self.validity = outer.validity
        self._conditions = conditions
        self._facts = facts
        self._shape = shape
        self._cases: dict[tuple[Hashable, SSAValue], _Assuming] = {}
        self._is_possible = self._narrow()

    def _enter(self) -> None:
        """Start at the outer engine's insertion point, with the facts it has cached."""
        outer = self._outer
        self._own: dict[Hashable, SSAValue] = {}
        self.loops = outer.loops
        self.forms = ChainMap({}, outer.forms)
        self.costs = ChainMap({}, outer.costs)
        self.sums = ChainMap({}, outer.sums)
        self._order = outer._order
        self._values = ChainMap(self._own, outer._values)
        self._new: dict[SSAValue, SSAValue] = {}
        self.builder, self._depth = outer.builder, outer._depth
        self._actions = outer._actions

    def visited(self) -> Mapping[Hashable, SSAValue]:
        return self._own

    def _narrow(self) -> bool:
        """Narrow the intervals of single values by the facts.

        Returns False if the facts contradict each other, so that the conditions never hold.
        """
        known: dict[SSAValue, tg.Interval] = {}
        of = self._outer.min_max

        def interval(value: SSAValue) -> tg.Interval:
            return known.get(value) or of[value]

        # The second pass uses the intervals that the first one has narrowed.
        for fact in (*self._facts, *self._facts):
            for atom, coefficient in fact.terms.items():
                rest = int((fact - tg.Affine({atom: coefficient})).interval(interval).hi)
                # coefficient * atom >= -rest
                low, high = int(interval(atom).lo), int(interval(atom).hi)
                if coefficient > 0:
                    low = max(low, -(rest // coefficient))
                else:
                    high = min(high, rest // -coefficient)
                if low > high:
                    return False
                known[atom] = tg.Interval(low, high)
        self.min_max = MinMaxOfCells(known, of) if self._shape else MinMax(known)
        return True

    def interval(self, form: Linear) -> tg.Interval:
        """The interval of a form over the integers, where the conditions hold."""
        box = super().interval(form)
        if len(form.terms) < 2 or box.is_constant:
            return box
        low, high = self._least(form, 0), -self._least(form * -1, 0)
        return tg.Interval(low, high) if low <= high else box

    def _least(self, form: Linear, first: int) -> int:
        """A lower bound of a form, which uses the facts from index `first` on."""
        best = int(super().interval(form).lo)
        for position in range(first, len(self._facts)):
            fact = self._facts[position]
            # Subtract the fact as often as one of its atoms needs to vanish from the form.
            quotients = {divmod(form.terms.get(atom, 0), c) for atom, c in fact.terms.items()}
            for factor, remainder in quotients:
                if factor > 0 and remainder == 0:
                    best = max(best, self._least(form - fact * factor, position + 1))
        return best

    def simplified(self, value: SSAValue, ops: Sequence[tg.TgOp]) -> SSAValue:
        """Simplify a value for the case that the conditions hold.

        `ops` are the ops that may be copied to compute it, operands first.
        """
        known = self._conditions
        # They say something where they bound sums, or where the value is, or comes from, one.
        if not self._is_possible or not (
            self._facts or value in known or any(o in known for op in ops for o in op.operands)
        ):
            return value
        self._enter()
        # Remember the position before the copies: the outer engine adopts all ops after it.
        anchor = self.builder.insertion_point.insert_before
        assert anchor is not None
        last = anchor.prev_op
        for op in ops:
            result = op.results[0]
            if result in self._new:
                continue
            # A result with one possible value becomes that constant; other ops get new operands.
            new = self._decided(result)
            read = 1 if op.name in NAMING else len(op.operands)
            operands = [*map(self._known_or_same, op.operands[:read]), *op.operands[read:]]
            if isinstance(op, tg.ReduceOp) and not self.loops.keeps(op.source, operands[0]):
                operands = list(op.operands)  # The new source would lose a pinned loop.
            # Copy an op that changes, or that the narrower bounds may simplify.
            if new is None and (op.name in ROUGH or operands != list(op.operands)):
                new = self.insert(op.rebuild(operands))
                is_same = operands == list(op.operands)
                if is_same and is_of_clamp(op) and constant_attribute(new) is None:
                    # The copy has no WHERE yet, and other sides. The clamp would be another value.
                    new = result
                elif not isinstance(self._outer, _Assuming):
                    new = self._in_all_cases(new)
            self._new[result] = new or result
        return self._outer.adopt(self._known_or_same(value), last)

    def _in_all_cases(self, value: SSAValue) -> SSAValue:
        """Simplify an IDIV or MOD by case distinction, if all cases give the same result.

        A fact may say that a sum of nonnegative terms is at least 1. Then at least one of its atoms
        is at least 1, which makes one case per atom.
        """
        if not isinstance(value.owner, tg.IDivOp | tg.ModOp):
            return value
        ops = list(_ops_of(self, value, self._shape))
        for fact in self._facts:
            terms = fact.terms.items()
            is_positive = all(c > 0 and self.min_max[a].lo >= 0 for a, c in terms)
            if fact.constant >= 0 or len(terms) < 2 or not is_positive:
                continue
            results = {self._case(fact, atom).simplified(value, ops) for atom in fact.terms}
            if len(results) == 1 and value not in results:
                return results.pop()
        return value

    def _case(self, fact: Linear, atom: SSAValue) -> _Assuming:
        """The engine for the case that an atom of a fact is at least 1."""
        key = fact, atom
        if key not in self._cases:
            facts = [*self._facts, tg.Affine({atom: 1}, -1)]
            self._cases[key] = _Assuming(self, self._conditions, facts, self._shape)
        return self._cases[key]

    def _known_or_same(self, value: SSAValue) -> SSAValue:
        if value not in self._new:
            self._new[value] = self._decided(value) or value
        return self._new[value]

    def _decided(self, value: SSAValue) -> SSAValue | None:
        """The constant that a bool or an integer must equal under the conditions; else None."""
        if (outcome := self._conditions.get(value)) is None:
            if tg.is_memory(value) or not tg.dtype_of(value).is_integer or not self.validity[value]:
                return None
            interval = self.interval(self.form(value))
            if not interval.is_constant:
                return None
            outcome = tg.wrap_to(tg.dtype_of(value), int(interval.lo))
        type = tg.tensor(value)
        return self.splat(tg.number_attribute(outcome, type.element_type), type)


def _fact(engine: Engine, condition: SSAValue, holds: bool) -> Linear | None:
    """The linear form that is not negative if and only if a comparison has the given outcome."""
    known = order(condition, holds)
    if known is None or not is_even(cast(Operation, condition.owner)):
        return None
    low, high = (engine.exact_form(side) for side in (known.low, known.high))
    return high - low - known.margin
