"""The recognition of sums of exponentials that one pass over blocks can compute (`online.py`).

From each maximum of scores, the sums over the exponentials of differences to it are found. A walk
from the root of a group back to the exponentials gives the index at which each value is needed. It
proves that a sum is linear in the exponentials, that all sums go over the same steps of the same
rows, and that factors which need a sum, as `1 / l` does, are the same in all steps, so that they
may follow the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.movement import broadcast, moved, operand_indices
from tgdialect.analysis.affine.positions import ZERO, Index, LoopVariable, Position, loops_of
from tgdialect.analysis.limits import MANY
from tgdialect.analysis.sparsity import constant_of
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.planning.contractions import epilogue, is_long, is_product
from tgdialect.lowering.rangeify.planning.demand import Demands
from tgdialect.lowering.rangeify.planning.online import (
    OnlineSum,
    OnlineSums,
    Operand,
    reduced_at,
)
from tgdialect.ops import tg


def online_sums(
    block: Block, is_valid: Callable[[SSAValue], bool], stored: Set[Operation]
) -> Sequence[OnlineSums]:
    """The groups of such sums of a function whose scores are products of matrices.

    None of them has a value of `stored`, or one that is used elsewhere.
    """
    groups = (online_sums_of(op, is_valid) for op in ops_of(block))
    return [each for each in groups if each and not {*each.inside, each.root} & stored]


def online_sums_of(op: Operation, is_valid: Callable[[SSAValue], bool]) -> OnlineSums | None:
    """The sums over the exponentials of differences to a maximum; None if an op is no maximum, or
    there are no such sums."""
    if not isinstance(op, tg.ReduceOp) or op.kind.data is not tg.ReduceKind.MAX:
        return None
    return _Recognizer(op, is_valid).recognize()


_WHOLE = (tg.PermuteOp, tg.ReshapeOp, tg.ExpandOp, tg.ElementwiseOp)
"""Ops whose operands have no cells beyond those of an axis that they share with the result."""

_Need = tuple[SSAValue, Index, tuple[Operand, ...]]
"""A value at an index, and the path from the root to it."""


@dataclass
class _Recognizer:
    """The recognition of the sums over one maximum."""

    greatest: tg.ReduceOp
    is_valid: Callable[[SSAValue], bool]
    demands: Demands = field(default_factory=Demands)
    powers: Operation | None = None
    """The exponentials."""
    linear: Set[Operation] = frozenset[Operation]()
    """The exponentials, and the elementwise and movement ops that are linear in them."""
    members: Set[Operation] = frozenset[Operation]()
    """The sums that are linear in the exponentials."""
    inside: Set[Operation] = frozenset[Operation]()
    """The ops that depend on products, up to the root, and that."""
    axes: Mapping[LoopVariable, int] = field(default_factory=dict[LoopVariable, int])
    """The axis of the root that each of the loops around it goes along."""
    sums: dict[Operation, OnlineSum] = field(default_factory=dict[Operation, OnlineSum])
    """The sums that the walk from the root has come to."""
    rows: set[Index] = field(default_factory=set[Index])
    """The indices of rows at which sums and the maximum are needed."""
    shows_greatest: bool = False
    """Whether the maximum is needed by itself."""
    others: set[LoopVariable] = field(default_factory=set[LoopVariable])
    """The loops that the other factors of summands depend on."""

    @property
    def axis(self) -> int:
        """The axis of the scores that is summed over."""
        return tg.integers(self.greatest, "axes")[0]

    def recognize(self) -> OnlineSums | None:
        greatest, scores = self.greatest, self.greatest.source
        dtype, shape = tg.dtype_of(scores), tg.tensor(scores).get_shape()
        if len(tg.integers(greatest, "axes")) != 1 or greatest.ordered is not None:
            return None
        if not dtype.is_float or dtype.bits < 32 or {0, DYNAMIC_INDEX} & {*shape}:
            return None
        products = self.find_products(scores)
        if not products or not self.is_valid(scores):
            return None
        if (found := self.find_powers(scores)) is None:
            return None
        self.powers, scale = found
        self.find_sums(self.powers)
        for each in self.members:
            root = epilogue(each)[-1]
            self.inside = self.between(products, root)
            if self.inside >= {*self.members, self.powers, greatest}:
                return self.group(root, products, self.powers, scale)
        return None

    def find_products(self, scores: SSAValue) -> Sequence[tg.ReduceOp]:
        """The products of matrices that scores are elementwise functions of."""
        found: list[tg.ReduceOp] = []
        walk = tg.Walk([scores], MANY)
        for value in walk:
            op = value.owner
            if isinstance(op, tg.ReduceOp):
                if is_long(self.demands, op) and is_product(self.demands, op):
                    found.append(op)
            elif isinstance(op, tg.ElementwiseOp | tg.MovementOp) and not tg.is_memory(value):
                walk.add(op.operands)
        return found if walk.is_complete else ()

    def find_powers(self, scores: SSAValue) -> tuple[tg.Exp2Op | tg.ExpOp, float] | None:
        """The one EXP2 or EXP of a positive multiple of the differences, and the multiple."""
        differences = [
            use.operation
            for use in scores.uses
            if use.index == 0 and isinstance(use.operation, tg.SubOp)
        ]
        if len(differences) != 1 or not self.is_of_rows(differences[0].operands[1]):
            return None
        op, scale = differences[0], 1.0
        while len(uses := list(op.results[0].uses)) == 1:
            user = uses[0].operation
            if isinstance(user, tg.Exp2Op | tg.ExpOp):
                return (user, scale) if user.result.type == scores.type else None
            if not isinstance(user, tg.MulOp):
                return None
            other = user.operands[1 - uses[0].index]
            if (factor := constant_of(other)) is None or not 0 < factor < float("inf"):
                return None
            op, scale = user, scale * factor
        return None

    def is_of_rows(self, shift: SSAValue) -> bool:
        """Whether a value is the maximum of each row, at each score of this row."""
        shape = tg.shape_of(self.greatest.source)
        index = self.demands.loops(shape)
        at: Index | None = broadcast(index, shape, tg.shape_of(shift))
        for op in tg.through(shift, tg.MovementOp):
            if at is None or isinstance(op, tg.PadOp):
                return False
            at = moved(self.demands, op, at)
        is_greatest = tg.behind(shift, tg.MovementOp).owner is self.greatest
        return is_greatest and at == reduced_at(self.greatest, index, ZERO)

    def find_sums(self, powers: Operation) -> None:
        """Find the sums that are linear in the exponentials; none if these are used otherwise."""
        walk = tg.Walk([powers], MANY)
        for each in walk:
            if isinstance(each, tg.ReduceOp):
                continue
            for use in each.results[0].uses:
                if not (_is_free_sum(use.operation) or _is_linear(use.operation, use.index)):
                    return
                walk.add([use.operation])
        if walk.is_complete:
            self.members = {op: None for op in walk.seen if isinstance(op, tg.ReduceOp)}.keys()
            self.linear = walk.seen.keys() - self.members

    @staticmethod
    def between(products: Sequence[tg.ReduceOp], root: Operation) -> Set[Operation]:
        """The ops that depend on products, up to a root and with it; none if they have users beside
        it."""
        walk: tg.Walk[Operation] = tg.Walk(products, MANY)
        for op in walk:
            users = {*tg.users_of(op)} - {root}
            kinds = tg.ElementwiseOp | tg.ReduceOp | tg.MovementOp
            if not op.results[0].uses or not all(isinstance(user, kinds) for user in users):
                return set()
            walk.add(users)
        return {*walk.seen, root} if walk.is_complete else set()

    # -- indices

    def group(
        self,
        root: Operation,
        products: Sequence[tg.ReduceOp],
        powers: tg.Exp2Op | tg.ExpOp,
        scale: float,
    ) -> OnlineSums | None:
        """The group, if all sums go over the same steps of the same rows."""
        value = root.results[0]
        shape = tg.tensor(value).get_shape()
        if DYNAMIC_INDEX in shape or not self.is_valid(value):
            return None
        index = self.demands.loops(shape)
        self.axes = {loop: axis for axis, each in enumerate(index) for loop in loops_of(each)}
        if not self.visit(value, index) or self.sums.keys() != self.members or len(self.rows) != 1:
            return None
        (row,) = self.rows
        reused = {self.axes[loop] for loop in loops_of(*row) - self.others}
        if not reused or any(len(index[axis].terms) != 1 for axis in reused):
            return None
        return OnlineSums(
            root,
            self.greatest,
            powers,
            scale,
            tuple(products),
            tuple(self.sums.values()),
            self.shows_greatest,
            max(sorted(reused), key=lambda number: (shape[number], number)),
            frozenset(self.inside - {root}),
        )

    def visit(self, root: SSAValue, index: Index) -> bool:
        """Whether each sum is needed at one index, and each of its paths is linear."""
        stack: list[_Need] = [(root, index, ())]
        seen: set[tuple[SSAValue, Index]] = set()
        while stack:
            value, index, path = stack.pop()
            op = value.owner
            if not isinstance(op, tg.TgOp) or op not in self.inside or (value, index) in seen:
                continue
            seen.add((value, index))
            if op is self.greatest:
                self.rows.add(self.row_of(index))
                self.shows_greatest = True
            elif isinstance(op, tg.ReduceOp):
                if op not in self.members or (new := self.sum(op, index, path)) is None:
                    return False
                stack += new
            elif not (further := [*operand_indices(self.demands, op, index)]):
                return False
            else:
                stack += [(op.operands[n], at, (*path, Operand(op, n))) for n, at in further]
        return all(loops_of(*row) <= self.axes.keys() for row in self.rows)

    def sum(self, op: tg.ReduceOp, index: Index, path: tuple[Operand, ...]) -> list[_Need] | None:
        """Visit a sum; returns what its factors need, or None: it is needed at another index, too,
        is not linear, or goes over other steps."""
        (axis,) = tg.integers(op, "axes")
        extent = tg.shape_of(op.source)[axis]
        (at,) = self.demands.loops((extent,))
        is_whole = extent == tg.shape_of(self.greatest.source)[self.axis]
        if op in self.sums or at.atom is None or not is_whole:
            return None
        # The one path from the operand of the sum to the exponentials.
        inner, factors, reads_zeros = tuple[Operand, ...](), tuple[int, ...](), True
        value, where, needed = op.source, reduced_at(op, index, at), list[_Need]()
        while (link := value.owner) is not self.powers:
            if not isinstance(link, tg.ElementwiseOp | tg.MovementOp):
                return None
            further = dict(operand_indices(self.demands, link, where))
            on_path = [n for n in further if link.operands[n].owner in self.linear]
            if len(on_path) != 1:
                return None
            (number,) = on_path
            where = further.pop(number)
            reads_zeros = reads_zeros and isinstance(link, _WHOLE) and at in where
            for n, other in further.items():
                operand = link.operands[n]
                if operand.owner not in self.inside:
                    reads_zeros = reads_zeros and self.is_loaded(operand, other, at)
                    self.others |= self.loaded_in(operand, other)
                    continue
                # A factor that needs sums follows the loop: it has to be the same in all steps.
                if not isinstance(link, tg.MulOp | tg.DivOp) or loops_of(*other) & loops_of(at):
                    return None
                factors = (*factors, len(inner))
                needed.append((operand, other, (*path, Operand(op, 0), *inner, Operand(link, n))))
            inner = (*inner, Operand(link, number))
            value = link.operands[number]
        row = self.row_of(where)
        if where[self.axis] != at or loops_of(at) & loops_of(*row):
            return None
        self.rows.add(row)
        columns = sorted({self.axes[loop] for loop in loops_of(*index) - loops_of(*row)})
        self.sums[op] = OnlineSum(op, path, inner, factors, tuple(columns), reads_zeros)
        return needed

    def is_loaded(self, value: SSAValue, at: Index, step: Position) -> bool:
        """Whether a factor is memory, or moved from there, so that the steps are an axis of it:
        past its end a LOAD is 0."""
        while step in at and not tg.is_storage(value):
            op = value.owner
            if not isinstance(op, _WHOLE) or not isinstance(op, tg.MovementOp | tg.CastOp):
                return False
            ((_, at),) = operand_indices(self.demands, op, at)
            value = op.operands[0]
        return step in at

    def loaded_in(self, value: SSAValue, index: Index) -> set[LoopVariable]:
        """The loops that what is loaded for a factor depends on."""
        found: set[LoopVariable] = set()
        walk = tg.Walk([(value, index)])
        for value, index in walk:
            op, further = value.owner, list[tuple[int, Index]]()
            if isinstance(op, tg.ElementwiseOp | tg.MovementOp) and len(walk.seen) <= MANY:
                further = [*operand_indices(self.demands, op, index)]
            if not further:
                found |= loops_of(*index)
            walk.add((tg.operands_of(value)[n], at) for n, at in further)
        return found

    def row_of(self, where: Index) -> Index:
        """The index of a row of scores, from that of a score or of a maximum."""
        return (*where[: self.axis], *where[self.axis + 1 :])


def _is_linear(op: Operation, operand: int) -> bool:
    """Whether an op is linear in an operand."""
    match op:
        case tg.PadOp():
            return False
        case tg.MovementOp():
            return operand == 0
        case tg.MulOp() | tg.NegOp():
            return True
        case tg.DivOp():
            return operand == 0
        case tg.CastOp():
            return tg.dtype_of(op.result).is_float
        case tg.WhereOp() if operand > 0:
            return constant_of(op.operands[3 - operand]) == 0
        case _:
            return False


def _is_free_sum(op: Operation) -> bool:
    """Whether an op is a sum along one axis in any order."""
    return (
        isinstance(op, tg.ReduceOp)
        and op.kind.data is tg.ReduceKind.ADD
        and op.ordered is None
        and len(tg.integers(op, "axes")) == 1
        and tg.dtype_of(op.source).is_float
    )
