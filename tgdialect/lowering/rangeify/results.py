"""The results of a function: the STOREs of them, and those in the memory of arguments that the
caller does not need after the call.

An argument that is `{tg.donated}` may be overwritten once all kernels that read it have run. One
kernel may read and write it at once if it reads each cell just before it writes it. Cells that a
result takes over as they are, as those of a cache of which one row is replaced, are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tgdialect.analysis.sparsity import constant_of
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.store_before_movement import moved_back
from tgdialect.ops import tg


def is_result(memory: SSAValue) -> bool:
    """Whether memory is, or may become, a result of the function: invalid cells of it are 0."""
    if not isinstance(memory, BlockArgument):
        return False
    return not {"tg.output", "tg.donated"}.isdisjoint(tg.argument_attributes(memory))


def store_of_result(value: SSAValue, is_valid: Callable[[SSAValue], bool]) -> tg.StoreOp | None:
    """The STORE of just this value in a whole result of the function, if there is one. `is_valid`
    says whether all cells of a value are valid."""
    for use in value.uses:
        op = use.operation
        if (
            isinstance(op, tg.StoreOp)
            and use.index == 1
            and op.gate is None
            and is_result(op.buffer)
            and tg.tensor(op.buffer).element_type == tg.tensor(value).element_type
            and is_valid(value)
        ):
            return op
    return None


def only_store_of_result(value: SSAValue) -> tg.StoreOp | None:
    """The STORE of a value in a view of a result of the function, if that is its only use."""
    uses = [use.operation for use in value.uses]
    if len(uses) != 1 or not isinstance(store := uses[0], tg.StoreOp) or store.gate is not None:
        return None
    is_same = tg.tensor(store.buffer).element_type == tg.tensor(value).element_type
    return store if is_same and is_result(tg.memory_of(store.buffer)) else None


# -- donated memory -------------------------------------------------------------------------------


class Piece(NamedTuple):
    """Cells of memory that a STORE writes, as a view, and their value. `is_whole` says that they
    are all of them, in the shape of the STORE."""

    view: SSAValue
    value: SSAValue
    is_whole: bool = False


class Donors:
    """The donated arguments of a function, and the results that take their memory."""

    def __init__(self, function: FuncOp) -> None:
        self.function = function
        self.taken: dict[BlockArgument, BlockArgument] = {}
        """The arguments whose memory is taken, and the arguments of these results."""
        self.last_read: dict[SSAValue, int] = {}
        """The number of the last task that reads an argument."""
        attributes = [(a, tg.argument_attributes(a)) for a in function.args]
        self._wanted: dict[BlockArgument, int] = {
            a: wanted
            for a, given in attributes
            if (wanted := tg.integer_attribute(given, "tg.donated")) is not None
        }
        """The donated arguments, and the result that is to take the memory of each."""
        outputs = [a for a, given in attributes if "tg.output" in given]
        self._numbers = {a: number for number, a in enumerate(outputs)}
        self.stores = {
            store: output
            for output in (outputs if self._wanted else ())
            if (store := _only_store(output)) is not None
        }
        """The STOREs that write all cells of a result, and nothing else does."""
        self._views = tg.OpBuilder.at_end(Block())
        """The views that pieces are of."""

    def pairs(self) -> Iterator[tuple[tg.StoreOp, BlockArgument]]:
        """STOREs and donated arguments whose memory they may write. Those come first that the
        function asks for."""
        others: list[tuple[tg.StoreOp, BlockArgument]] = []
        by_number = {self._numbers[output]: store for store, output in self.stores.items()}
        for argument, wanted in self._wanted.items():
            if (store := by_number.get(wanted)) and self._are_alike(argument, self.stores[store]):
                yield store, argument
            elif wanted == tg.ANY_RESULT:
                alike = (s for s, o in self.stores.items() if self._are_alike(argument, o))
                others += ((store, argument) for store in alike)
        yield from others

    def windows(self) -> Iterator[Operation]:
        """The values of results that replace a window of a donated argument which nothing else
        reads. Writing the window costs less than choosing between old and new cells at each use."""
        for store, argument in self.pairs():
            value = store.value.owner
            if not isinstance(value, tg.WhereOp) or isinstance(store.buffer.owner, Operation):
                continue
            chain: set[Operation] = {value}
            old = value
            while isinstance(old := old.rhs.owner, tg.WhereOp):
                chain.add(old)
            block = self.function.body.block
            readers = {use.operation for use in argument.uses if use.operation.parent is block}
            if readers <= chain and _changed(self._views, argument, store.value) is not None:
                yield value

    def free(self, store: tg.StoreOp, task: int) -> Sequence[BlockArgument]:
        """The arguments that no task after this one reads, and whose memory a STORE may take. The
        one comes first that the function asks for."""
        if (output := self.stores.get(store)) is None:
            return ()
        wanted = self._numbers[output]
        found = [
            a
            for a in self._wanted
            if a not in self.taken
            and self.last_read.get(a, -1) <= task
            and self._are_alike(a, output)
        ]
        return sorted(found, key=lambda a: self._wanted[a] != wanted)

    @staticmethod
    def _are_alike(argument: BlockArgument, output: BlockArgument) -> bool:
        """Whether memory has the same type, and the same extents where these are dynamic."""
        dims = [tg.dims_attribute(tg.argument_attributes(a)) for a in (argument, output)]
        return argument.type == output.type and dims[0] == dims[1]

    def pieces(self, store: tg.StoreOp, memory: SSAValue, value: SSAValue) -> Sequence[Piece]:
        """The writes to memory that give a result its value, in order.

        rewrite: `store %r, (where (pad true at [i] to [n]), (pad %x at [i] to [n]), %m)`
        -> `store (shrink %m at [i] to [1]), %x`, where %m is the memory.
        """
        view = _rebased(self._views, store.buffer, memory)
        changed = _changed(self._views, view, value)
        return [Piece(view, value, True)] if changed is None else changed

    def erase_views(self) -> None:
        """Erase the views that pieces are of, whose extents may be ops of the function."""
        views = self._views.block
        for op in reversed(ops_of(views)):
            views.erase_op(op)

    def finish(self) -> None:
        """Erase the arguments of results that are in the memory of others, which say so."""
        if not self._wanted:
            return
        function = self.function
        numbers = {a: self._numbers[output] for a, output in self.taken.items()}
        dropped = set(self.taken.values())
        kept = [a for a in function.args if a not in dropped]
        attributes: list[DictionaryAttr] = []
        for argument in kept:
            given: dict[str, Attribute] = {
                n: v for n, v in tg.argument_attributes(argument).items() if n != "tg.donated"
            }
            if argument in numbers:
                given["tg.result"] = IntegerAttr(numbers[argument], 64)
            attributes.append(DictionaryAttr(given))
        for argument in list(function.args):
            if argument in dropped:
                function.body.block.erase_arg(argument, safe_erase=False)
        function.function_type = FunctionType.from_lists([a.type for a in kept], ())
        function.arg_attrs = ArrayAttr(attributes)


def _only_store(output: SSAValue) -> tg.StoreOp | None:
    """The STORE that writes all cells of a result, if it is the only access to it."""
    view = output
    while True:
        uses = list(view.uses)
        if len(uses) != 1:
            return None
        match uses[0].operation:
            case tg.StoreOp() as store if uses[0].index == 0 and store.gate is None:
                return store
            case tg.ReshapeOp() | tg.PermuteOp() | tg.FlipOp() as op:
                view = op.result
            case _:
                return None


# -- what is written -------------------------------------------------------------------------------


def _rebased(builder: tg.OpBuilder, view: SSAValue, memory: SSAValue) -> SSAValue:
    """The same view of other memory."""
    for op in reversed([*tg.through(view, tg.MovementOp)]):
        memory = builder.put(op.rebuild([memory, *op.operands[1:]]))
    return memory


def _changed(builder: tg.OpBuilder, view: SSAValue, value: SSAValue) -> list[Piece] | None:
    """The cells of a view that have to be written for it to have a value; None if these may be all
    cells."""
    windows: list[tuple[SSAValue, SSAValue]] = []
    while not _is_same_view(view, value):
        op = value.owner
        if isinstance(op, tg.WhereOp) and (new := _window_of(op)) is not None:
            offsets, _ = tg.window(new)
            shown = builder.put(tg.ShrinkOp(view, offsets, tg.shape_of(new.source)))
            windows.append((shown, new.source))
            value = op.rhs
        elif not windows and (back := moved_back(view, value)) is not None:
            view, value = builder.put(back[0]), back[1]
        else:
            return None
    found: list[Piece] = []
    for shown, new in reversed(windows):
        inner = _changed(builder, shown, new)
        found += [Piece(shown, new)] if inner is None else inner
    return found


def _is_same_view(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are the same movements of the same memory."""
    while a is not b:
        first, second = a.owner, b.owner
        if (
            not isinstance(first, tg.MovementOp)
            or not isinstance(second, tg.MovementOp)
            or type(first) is not type(second)
            or first.properties != second.properties
            or first.operands[1:] != second.operands[1:]
        ):
            return False
        a, b = first.operands[0], second.operands[0]
    return True


def _window_of(op: tg.WhereOp) -> tg.PadOp | None:
    """The PAD of the new cells, where a WHERE replaces the cells of a window by others."""
    mask, new = op.condition.owner, op.lhs.owner
    if not (isinstance(mask, tg.PadOp) and isinstance(new, tg.PadOp)):
        return None
    is_window = (
        mask.fill is not None
        and not tg.number(mask.fill)
        and constant_of(mask.source) == 1
        and tg.window(mask) == tg.window(new)
        and tg.shape_of(mask.source) == tg.shape_of(new.source)
        and tg.shape_of(new.result) == tg.shape_of(op.result)
        and tg.tensor(op.rhs).get_shape() == tg.tensor(op.result).get_shape()
    )
    return new if is_window else None
