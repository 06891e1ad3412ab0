"""What the condition of a WHERE says about its branches.

A branch is read only where the condition is true, or only where it is false. There, the condition
of a WHERE inside of the branch may be known: it is the same, a part of an AND or OR, or compares
the same sum. For sums d and e over the integers, where `d < 0`,

    e < 0 is true   if e - d <= 0
    e < 0 is false  if e + d >= -1

and where `d >= 0`, that is where `-1 - d < 0`, likewise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.conditions import conjuncts, order
from tgdialect.ops.elementwise import AndOp, ElementwiseOp, NotOp, OrOp, WhereOp
from tgdialect.transforms.simplify.engine import Engine, is_even
from tgdialect.transforms.simplify.linear import Linear

MAX_OPS = 8
"""How many ops of a branch are looked at."""


def simplify_where(engine: Engine, op: Operation) -> SSAValue | None:
    """A WHERE without the choices in its branches that its condition has made."""
    condition, *branches = op.operands
    new = [
        _known_branch(engine, branch, condition, is_true)
        for branch, is_true in zip(branches, (True, False), strict=True)
    ]
    return None if new == branches else engine.apply(op.name, (condition, *new))


def _known_branch(engine: Engine, branch: SSAValue, condition: SSAValue, is_true: bool) -> SSAValue:
    ops = _inside(branch)
    if not any(isinstance(op, WhereOp) for op in ops):
        return branch
    known = _Known(engine)
    known.learn(condition, is_true)
    new: dict[SSAValue, SSAValue] = {}
    for op in ops:
        result = op.results[0]
        outcome = known.outcome(op.operands[0]) if isinstance(op, WhereOp) else None
        if outcome is not None:
            chosen = op.operands[1 if outcome else 2]
            widened = engine.widened(new.get(chosen, chosen), result)
            if widened is not None:
                new[result] = widened
        elif any(operand in new for operand in op.operands):
            new[result] = engine.insert(op.rebuild([new.get(o, o) for o in op.operands]))
    return new.get(branch, branch)


def _inside(branch: SSAValue) -> list[ElementwiseOp]:
    """The elementwise ops nearest to a branch, operands first."""
    ops: list[ElementwiseOp] = []
    seen: set[ElementwiseOp] = set()

    def visit(value: SSAValue) -> None:
        op = value.owner
        if isinstance(op, ElementwiseOp) and op not in seen and len(seen) < MAX_OPS:
            seen.add(op)
            for operand in op.operands:
                visit(operand)
            ops.append(op)

    visit(branch)
    return ops


@dataclass
class _Known:
    """What holds in a branch."""

    engine: Engine
    conditions: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    negative: list[Linear] = field(default_factory=list[Linear])
    """Sums that are less than 0."""

    def learn(self, condition: SSAValue, is_true: bool) -> None:
        """Take a condition for true, or for false."""
        self.conditions[condition] = is_true
        for part, holds in conjuncts([(condition, is_true)]):
            self.conditions[part] = holds
            if (difference := self.difference(part, holds)) is not None:
                self.negative.append(difference)

    def outcome(self, condition: SSAValue) -> bool | None:
        """What a condition is, if that is known."""
        if condition in self.conditions:
            return self.conditions[condition]
        op = condition.owner
        match op:
            case NotOp():
                outcome = self.outcome(op.source)
                return None if outcome is None else not outcome
            case AndOp() | OrOp():
                outcomes = [self.outcome(o) for o in op.operands]
                decisive = isinstance(op, OrOp)
                if decisive in outcomes:
                    return decisive
                return None if None in outcomes else not decisive
            case _:
                if (difference := self.difference(condition, True)) is not None:
                    for negative in self.negative:
                        less, more = difference - negative, difference + negative
                        if not less.terms and less.constant <= 0:
                            return True
                        if not more.terms and more.constant >= -1:
                            return False
                return None

    def difference(self, condition: SSAValue, holds: bool) -> Linear | None:
        """A sum that is less than 0 just if a comparison comes out like that."""
        known = order(condition, holds)
        if known is None or not is_even(cast(Operation, condition.owner)):
            return None
        low, high = (self.engine.exact_form(side) for side in (known.low, known.high))
        return low - high + Linear(constant=known.margin - 1)
