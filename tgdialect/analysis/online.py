"""Sums of exponentials of differences to a maximum that one pass over blocks of steps can compute.

A softmax takes three passes over a row of scores: `m = max s`, `l = sum exp2(s - m)`, and for an
attention `o = sum exp2(s - m) / l * v`. The sums over the first blocks of steps, with the maximum
of these blocks, are a state from which the next block goes on:

    m' = max(m, max s)    c = exp2(m - m')    l' = c * l + sum exp2(s - m')    o' = c * o + ...

so that no row of scores is stored. Source: Milakov and Gimelshein, "Online normalizer calculation
for softmax", 2018. This module proves that values of a function are such sums: that a sum is linear
in the exponentials, that all of them go over the same steps of the same rows, and that factors
which need a sum, as `1 / l` does, are the same in all steps, so that they may follow the loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.movement import broadcast, moved
from tgdialect.analysis.affine.positions import Index, LoopVariable, Position, Positions, depends_of
from tgdialect.analysis.contractions import epilogue, is_long, is_product
from tgdialect.analysis.demand import Demands
from tgdialect.ops.attributes import InvalidAttr, ReduceKind
from tgdialect.ops.elementwise import (
    CastOp,
    DivOp,
    ElementwiseOp,
    Exp2Op,
    MulOp,
    NegOp,
    SubOp,
    WhereOp,
)
from tgdialect.ops.movement import MovementOp, PadOp
from tgdialect.ops.properties import dtype_of, integers, is_memory, number, shape_of, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp

_MOST = 64
"""How many ops may lie between the products that scores are made of and the results. The bound
keeps recognition linear in the size of a program; an attention with all masks has some 30."""


class Operand(NamedTuple):
    """A step from a value to one of its operands."""

    op: Operation
    operand: int


class Factor(NamedTuple):
    """A MUL or DIV of a summand by what is the same in all steps."""

    op: MulOp | DivOp
    operand: int
    """The operand that the summand is."""
    path: tuple[Operand, ...]
    """From the operand of the sum to the op."""


@dataclass(frozen=True)
class OnlineSum:
    """A sum over the exponentials."""

    op: ReduceOp
    reach: tuple[Operand, ...]
    """From the root to the sum. A REDUCE on the way is another sum."""
    inner: tuple[Operand, ...]
    """From the operand of the sum to the exponentials."""
    factors: tuple[Factor, ...]
    """What the sum is multiplied by afterwards."""
    columns: tuple[int, ...]
    """The axes of the root that the sum depends on and the scores do not."""


@dataclass(frozen=True)
class OnlineSums:
    """All sums over the exponentials of the same scores, and what is computed of them."""

    root: Operation
    """The one op through which anything of them is used."""
    scores: SSAValue
    greatest: ReduceOp
    """Their maximum."""
    powers: Operation
    """The exponentials `exp2(scale * (scores - greatest))`."""
    scale: float
    products: tuple[ReduceOp, ...]
    """The products of matrices that the scores are made of."""
    sums: tuple[OnlineSum, ...]
    shows_greatest: bool
    """Whether the root depends on the maximum other than through the exponentials."""
    axis: int
    """The axis of the scores that is summed over."""
    row: int
    """The axis of the root whose rows share a block: what is loaded for the columns of a sum is the
    same for all of them."""
    inside: frozenset[Operation]
    """The ops between the products that scores are made of, these included, and the root."""
    once: frozenset[Operation]
    """Those that the scores are computed by."""

    @property
    def steps(self) -> int:
        return tensor(self.scores).get_shape()[self.axis]

    @property
    def rows(self) -> int:
        return tensor(self.root.results[0]).get_shape()[self.row]

    @property
    def results(self) -> int:
        """The rows of scores in all."""
        shape = tensor(self.root.results[0]).get_shape()
        return math.prod(n for axis, n in enumerate(shape) if axis not in self.columns)

    @property
    def is_masked_by_index(self) -> bool:
        """Whether scores are -inf where a condition on indices alone says so."""
        value = self.scores
        while isinstance(op := value.owner, WhereOp):
            hidden = [_constant(v) == -math.inf for v in (op.lhs, op.rhs)]
            if not any(hidden):
                return False
            if _is_of_indices(op.condition):
                return True
            value = op.rhs if hidden[0] else op.lhs
        return False

    @property
    def leaves_out(self) -> bool:
        """Whether a WHERE leaves exponentials out of a sum."""
        return any(isinstance(link.op, WhereOp) for each in self.sums for link in each.inner)

    @property
    def keeps_nan(self) -> bool:
        """Whether each sum is NaN where a score is, whatever the maximum, and nothing else needs
        the maximum.

        The exponential of such a score is NaN. So are multiples of it and the sum, unless it is
        left out. As the shift of exponentials a maximum of -0 and one of +0 are the same.
        """
        return not self.shows_greatest and not self.leaves_out

    @property
    def columns(self) -> tuple[int, ...]:
        """The axes of the root that the scores do not depend on."""
        return tuple(sorted({axis for each in self.sums for axis in each.columns}))


def follow(positions: Positions, steps: Iterable[Operand], index: Index, at: Position) -> Index:
    """The index at the end of a path, from that at its beginning. `at` is the position along the
    axis of each REDUCE on the way."""
    for op, operand in steps:
        if isinstance(op, ReduceOp):
            index = reduced_at(op, index, at)
        elif isinstance(op, MovementOp):
            found = moved(positions, op, index)
            assert found is not None
            index = found
        else:
            index = broadcast(index, shape_of(op.results[0]), shape_of(op.operands[operand]))
    return index


def reduced_at(op: ReduceOp, index: Index, at: Position) -> Index:
    """The index of the operand of a REDUCE over one axis."""
    (axis,) = integers(op, "axes")
    return (*index[:axis], at, *index[axis + 1 :])


def online_sums(
    block: Block, is_valid: Callable[[SSAValue], bool], stored: Set[Operation]
) -> Sequence[OnlineSums]:
    """The groups of such sums of a function whose scores are products of matrices.

    None of them has a value of `stored`, or one that is used elsewhere.
    """
    found: list[OnlineSums] = []
    for op in block.ops:
        if isinstance(op, ReduceOp) and op.kind.data is ReduceKind.MAX:
            group = _Recognizer(op, is_valid).recognize()
            if group is not None and not group.inside & stored and group.root not in stored:
                found.append(group)
    return found


class _Recognizer:
    """The recognition of the sums over one maximum."""

    def __init__(self, greatest: ReduceOp, is_valid: Callable[[SSAValue], bool]) -> None:
        self.greatest = greatest
        self.is_valid = is_valid
        self.demands = Demands()

    def recognize(self) -> OnlineSums | None:
        greatest, scores = self.greatest, self.greatest.source
        dtype, shape = dtype_of(scores), tensor(scores).get_shape()
        if len(integers(greatest, "axes")) != 1 or greatest.ordered is not None:
            return None
        if not dtype.is_float or dtype.bits < 32 or {0, DYNAMIC_INDEX} & {*shape}:
            return None
        if not (products := self.products(scores)) or not self.is_valid(scores):
            return None
        if (found := self.powers(scores)) is None:
            return None
        powers, scale = found
        sums = self.sums(powers)
        for each in sums or ():
            root = epilogue(each)[-1]
            inside = self.between(products, root)
            if inside is not None and {*sums, powers, greatest} <= {*inside, root}:
                return self.group(root, powers, scale, products, sums, inside)
        return None

    def products(self, scores: SSAValue) -> Sequence[ReduceOp]:
        """The products of matrices that scores are elementwise functions of."""
        found: list[ReduceOp] = []
        stack, seen = [scores], {scores}
        while stack and len(seen) <= _MOST:
            value = stack.pop()
            op = value.owner
            if isinstance(op, ReduceOp):
                if is_long(self.demands, op) and is_product(self.demands, op):
                    found.append(op)
            elif isinstance(op, ElementwiseOp | MovementOp) and not is_memory(value):
                new = [v for v in op.operands if v not in seen]
                seen.update(new)
                stack += new
        return found if len(seen) <= _MOST else ()

    def powers(self, scores: SSAValue) -> tuple[Operation, float] | None:
        """The one EXP2 of a positive multiple of the differences, and the multiple."""
        differences = [
            use.operation
            for use in scores.uses
            if use.index == 0 and isinstance(use.operation, SubOp)
        ]
        if len(differences) != 1 or not self.is_greatest(differences[0].operands[1]):
            return None
        op, scale = differences[0], 1.0
        while len(uses := list(op.results[0].uses)) == 1:
            user = uses[0].operation
            if isinstance(user, Exp2Op):
                return (user, scale) if user.result.type == scores.type else None
            if not isinstance(user, MulOp):
                return None
            other = user.operands[1 - uses[0].index]
            if (factor := _constant(other)) is None or not 0 < factor < float("inf"):
                return None
            op, scale = user, scale * factor
        return None

    def is_greatest(self, value: SSAValue) -> bool:
        """Whether a value is the maximum, of each row, or repeated along it."""
        return any(base is self.greatest for base in _moved_from(value))

    def sums(self, powers: Operation) -> list[ReduceOp]:
        """The sums that are linear in the exponentials; none if these are used otherwise."""
        found: dict[ReduceOp, None] = {}
        stack, seen = [powers], {powers}
        while stack and len(seen) <= _MOST:
            for use in stack.pop().results[0].uses:
                op = use.operation
                if isinstance(op, ReduceOp):
                    if not _is_free_sum(op):
                        return []
                    found[op] = None
                elif not _is_linear(op, use.index):
                    return []
                elif op not in seen:
                    seen.add(op)
                    stack.append(op)
        return list(found) if len(seen) <= _MOST else []

    @staticmethod
    def between(products: Sequence[ReduceOp], root: Operation) -> set[Operation] | None:
        """The ops that depend on products, up to a root; None if they have users beside it."""
        found: set[Operation] = {*products}
        stack: list[Operation] = [*products]
        while stack:
            for result in stack.pop().results:
                users = {use.operation for use in result.uses} - {root}
                if not result.uses or len(found) > _MOST:
                    return None
                for user in users - found:
                    if not isinstance(user, ElementwiseOp | ReduceOp | MovementOp):
                        return None
                    found.add(user)
                    stack.append(user)
        return found

    # -- indices

    def group(
        self,
        root: Operation,
        powers: Operation,
        scale: float,
        products: Sequence[ReduceOp],
        sums: Sequence[ReduceOp],
        inside: set[Operation],
    ) -> OnlineSums | None:
        """The group, if all sums go over the same steps of the same rows."""
        value = root.results[0]
        shape = tensor(value).get_shape()
        if DYNAMIC_INDEX in shape or not self.is_valid(value):
            return None
        index = self.demands.loops(shape_of(value))
        walk = _Walk(self.demands, self.greatest, powers, {*sums}, {*inside, root})
        if not walk.run(value, index):
            return None
        (axis,) = integers(self.greatest, "axes")
        rows = walk.rows(axis)
        if rows is None or {*walk.sums} != {*sums}:
            return None
        # The axes of the root by what they are for.
        axis_of = {loop: number for number, each in enumerate(index) for loop in _loops((each,))}
        around = _loops(rows)
        if not around <= axis_of.keys():
            return None
        own = {axis_of[loop] for loop in around}
        members = tuple(
            OnlineSum(
                op,
                visit.reach,
                visit.inner,
                visit.factors,
                tuple(sorted({axis_of[loop] for loop in _loops(visit.index)} - own)),
            )
            for op, visit in walk.sums.items()
        )
        reused = own - {axis_of[loop] for loop in walk.others if loop in axis_of}
        if not reused or any(len(index[axis].terms) != 1 for axis in reused):
            return None
        row = max(sorted(reused), key=lambda number: (shape[number], number))
        once = frozenset(_operands_of(self.greatest, inside))
        return OnlineSums(
            root,
            self.greatest.source,
            self.greatest,
            powers,
            scale,
            tuple(products),
            members,
            bool(walk.maxima),
            axis,
            row,
            frozenset(inside - {root}),
            once,
        )


@dataclass
class _Visit:
    """A sum at the index at which all users need it."""

    index: Index
    reach: tuple[Operand, ...]
    at: Position
    """The position along the axis that it reduces."""
    powers: Index = ()
    inner: tuple[Operand, ...] = ()
    factors: tuple[Factor, ...] = ()


class _Walk:
    """The walk from a root to sums, maxima and exponentials, with the index of each."""

    def __init__(
        self,
        demands: Demands,
        greatest: ReduceOp,
        powers: Operation,
        members: Set[Operation],
        inside: Set[Operation],
    ) -> None:
        self.demands = demands
        self.greatest, self.powers = greatest, powers
        self.members, self.inside = members, inside
        self.sums: dict[ReduceOp, _Visit] = {}
        self.maxima: set[Index] = set()
        self.others: set[LoopVariable] = set()
        """The loops that the other factors of summands depend on."""

    def run(self, root: SSAValue, index: Index) -> bool:
        """Whether each sum is needed at one index, and each of its paths is linear."""
        stack: list[tuple[SSAValue, Index, tuple[Operand, ...]]] = [(root, index, ())]
        seen: set[tuple[SSAValue, Index]] = set()
        while stack:
            value, index, path = stack.pop()
            op = value.owner
            if not isinstance(op, Operation) or op not in self.inside or (value, index) in seen:
                continue
            seen.add((value, index))
            if op is self.greatest:
                self.maxima.add(index)
            elif isinstance(op, ReduceOp):
                if op not in self.members or (new := self.sum(op, index, path)) is None:
                    return False
                stack += new
            elif op is self.powers or not (further := list(self.operands(op, index))):
                return False
            else:
                stack += [(op.operands[n], at, (*path, Operand(op, n))) for n, at in further]
        return True

    def operands(self, op: Operation, index: Index) -> Iterator[tuple[int, Index]]:
        """The operands of an op, and the index at which an element needs each."""
        if isinstance(op, MovementOp):
            if (where := moved(self.demands, op, index)) is not None:
                yield 0, where
        else:
            shape = shape_of(op.results[0])
            for number, operand in enumerate(op.operands):
                yield number, broadcast(index, shape, shape_of(operand))

    def sum(
        self, op: ReduceOp, index: Index, path: tuple[Operand, ...]
    ) -> list[tuple[SSAValue, Index, tuple[Operand, ...]]] | None:
        """Visit a sum; returns what its factors need, or None."""
        if op in self.sums:
            return [] if self.sums[op].index == index else None
        (axis,) = integers(op, "axes")
        (steps,) = integers(self.greatest, "axes")
        (at,) = self.demands.loops((shape_of(op.source)[axis],))
        is_whole = shape_of(op.source)[axis] == shape_of(self.greatest.source)[steps]
        if at.atom is None or not is_whole:
            return None
        visit = self.sums[op] = _Visit(index, path, at)
        stepped = _loops((at,))
        # The one path from the operand of the sum to the exponentials.
        value, where, needed = (
            op.source,
            reduced_at(op, index, at),
            list[tuple[SSAValue, Index, tuple[Operand, ...]]](),
        )
        while (link := value.owner) is not self.powers:
            if not isinstance(link, ElementwiseOp | MovementOp):
                return None
            further = list(self.operands(link, where))
            on_path = [n for n, _ in further if self.leads_to_powers(link.operands[n])]
            if len(on_path) != 1 or not _is_linear(link, on_path[0]):
                return None
            (number,) = on_path
            for n, other in further:
                if n == number:
                    continue
                if link.operands[n].owner not in self.inside:
                    self.others |= self.loops_of(link.operands[n], other)
                    continue
                # A factor that needs sums follows the loop: it has to be the same in all steps.
                if not isinstance(link, MulOp | DivOp) or _loops(other) & stepped:
                    return None
                visit.factors = (*visit.factors, Factor(link, number, visit.inner))
                before = (*path, Operand(op, 0), *visit.inner, Operand(link, n))
                needed.append((link.operands[n], other, before))
            where = next(at for n, at in further if n == number)
            visit.inner = (*visit.inner, Operand(link, number))
            value = link.operands[number]
        visit.powers = where
        return needed

    def loops_of(self, value: SSAValue, index: Index) -> set[LoopVariable]:
        """The loops that what is loaded for a factor depends on."""
        found: set[LoopVariable] = set()
        stack, seen = [(value, index)], {(value, index)}
        while stack:
            value, index = stack.pop()
            op = value.owner
            further = list[tuple[SSAValue, Index]]()
            if isinstance(op, ElementwiseOp | MovementOp) and len(seen) <= _MOST:
                further = [(op.operands[n], at) for n, at in self.operands(op, index)]
            if not further:
                found |= _loops(index)
            new = [each for each in further if each not in seen]
            seen.update(new)
            stack += new
        return found

    def leads_to_powers(self, value: SSAValue) -> bool:
        """Whether a value is made of the exponentials by linear ops alone."""
        stack, seen = [value], {value}
        while stack:
            op = stack.pop().owner
            if op is self.powers:
                return True
            if isinstance(op, ElementwiseOp | MovementOp) and op in self.inside:
                new = [v for v in op.operands if v not in seen]
                seen.update(new)
                stack += new
        return False

    def rows(self, axis: int) -> Index | None:
        """The index of the scores' rows, if it is the same in all sums and maxima."""
        found: set[Index] = set()
        for visit in self.sums.values():
            where = visit.powers
            if where[axis] != visit.at or {*depends_of(visit.at)} & {
                *depends_of(*where[:axis], *where[axis + 1 :])
            }:
                return None
            found.add((*where[:axis], *where[axis + 1 :]))
        found |= {(*where[:axis], *where[axis + 1 :]) for where in self.maxima}
        return found.pop() if len(found) == 1 else None


def _loops(index: Index) -> set[LoopVariable]:
    return {loop for loop, _ in depends_of(*index)}


def _is_linear(op: Operation, operand: int) -> bool:
    """Whether an op is linear in an operand."""
    match op:
        case PadOp():
            return False
        case MovementOp():
            return operand == 0
        case MulOp() | NegOp():
            return True
        case DivOp():
            return operand == 0
        case CastOp():
            return dtype_of(op.result).is_float
        case WhereOp() if operand > 0:
            return _constant(op.operands[3 - operand]) == 0
        case _:
            return False


def _is_free_sum(op: ReduceOp) -> bool:
    """Whether a REDUCE is a sum along one axis in any order."""
    is_sum = op.kind.data is ReduceKind.ADD and op.ordered is None
    return is_sum and len(integers(op, "axes")) == 1 and dtype_of(op.source).is_float


def _constant(value: SSAValue) -> float | None:
    """The number that all elements of a value are."""
    for base in _moved_from(value):
        if isinstance(base, ConstOp) and not isinstance(base.value, InvalidAttr):
            return float(number(base.value))
    return None


def _is_of_indices(value: SSAValue) -> bool:
    """Whether a value depends on no memory."""
    stack, seen = [value], {value}
    while stack:
        value = stack.pop()
        op = value.owner
        if is_memory(value) or not isinstance(op, Operation) or len(seen) > _MOST:
            return False
        new = [v for v in op.operands if v not in seen]
        seen.update(new)
        stack += new
    return True


def _moved_from(value: SSAValue) -> Iterator[Operation]:
    """The ops that a value is a RESHAPE or EXPAND of, and the first that is neither."""
    while isinstance(op := value.owner, Operation):
        yield op
        if not isinstance(op, MovementOp) or isinstance(op, PadOp):
            return
        value = op.operands[0]


def _operands_of(op: Operation, inside: Set[Operation]) -> Iterator[Operation]:
    """The ops of a set that an op is computed by."""
    stack, seen = [op], {op}
    while stack:
        for operand in stack.pop().operands:
            owner = operand.owner
            if isinstance(owner, Operation) and owner in inside and owner not in seen:
                seen.add(owner)
                stack.append(owner)
                yield owner
