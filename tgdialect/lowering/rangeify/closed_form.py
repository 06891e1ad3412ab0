"""Which reductions `tg-simplify` turns into arithmetic: a sum of indices, or a count."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.structure import Structures
from tgdialect.lowering.rangeify.kernel import KernelBuilder
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import is_memory, shape_of, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp
from tgdialect.transforms.simplify import simplify


class ClosedForms:
    """Whether REDUCEs have a closed form, found by simplifying a kernel that computes each. Those
    of the same structure, as the masks of equal layers, are tried once."""

    def __init__(self, structures: Structures, intervals: MinMax) -> None:
        """`intervals` are those of the values of the function."""
        self._known: dict[ReduceOp, bool] = {}
        self._loops: set[Operation] = set()
        """The REDUCEs without a closed form."""
        self._constants: dict[Operation, Attribute] = {}
        """REDUCEs whose elements are all one number: kernels of other REDUCEs use the number."""
        self._structures = structures
        self._intervals = intervals
        self._alike: dict[str, tuple[bool, Attribute | None]] = {}
        """By the structure of what computes a REDUCE: whether it has a closed form, and the number
        that it is if its elements are all one."""

    def __call__(self, op: ReduceOp) -> bool:
        """Whether a REDUCE has a closed form.

        One that reads memory has none. One that reads a REDUCE without a closed form is not tried:
        the trials of a chain of REDUCEs would take quadratic time.
        """
        if (known := self._known.get(op)) is None:
            known = self._known[op] = not self._reads(op) and self._is_closed(op)
            if not known:
                self._loops.add(op)
        return known

    def _reads(self, op: ReduceOp) -> bool:
        """Whether a REDUCE depends on memory or on a REDUCE without a closed form. Constants are
        leaves."""
        stack, seen = list(op.operands), set[SSAValue]()
        while stack:
            value = stack.pop()
            if value in seen:
                continue
            seen.add(value)
            if is_memory(value) or value.owner in self._loops:
                return True
            if isinstance(value.owner, Operation) and value.owner not in self._constants:
                stack.extend(value.owner.operands)
        return False

    def _is_closed(self, op: ReduceOp) -> bool:
        """Whether a REDUCE that reads no memory has a closed form."""
        structure = self._structures.computing([op.result], self._leaf, self._note)
        found = None if structure is None else self._alike.get(structure.text)
        if found is None:
            found = self._try(op)
            if structure is not None:
                self._alike[structure.text] = found
        is_closed, constant = found
        if constant is not None:
            self._constants[op] = constant
        return is_closed

    def _leaf(self, value: SSAValue) -> str | None:
        owner = value.owner
        known = self._constants.get(owner) if isinstance(owner, Operation) else None
        return None if known is None else str(known)

    def _note(self, op: Operation) -> str:
        """What is known of indices decides whether they are clamped."""
        if not isinstance(op, IndexOp):
            return ""
        return str([self._intervals[index] for index in op.indices])

    def _try(self, op: ReduceOp) -> tuple[bool, Attribute | None]:
        """Simplify a kernel that stores the elements of a REDUCE: whether no loop of it reduces,
        and the number that all elements are, if they are one."""
        builder = KernelBuilder({}, constants=self._constants, intervals=self._intervals)
        index, ranges = builder.loops(shape_of(op.result), AxisType.LOOP)
        cell = builder.cell(op.result, index)
        buffer = builder.local_buffer(tensor(op.result).element_type, ())
        store = StoreOp(buffer, cell.value)
        kernel = builder.finish("trial", [builder.put(store)], ranges)
        simplify(kernel)
        is_there = cell.valid is None and store.parent is not None
        constant = store.value.owner if is_there else None
        is_closed = not any(
            isinstance(each, ReduceOp) or _carries_accumulator(each)
            for each in kernel.body.block.ops
        )
        return is_closed, constant.value if isinstance(constant, ConstOp) else None


def _carries_accumulator(op: Operation) -> bool:
    """Whether an op is the RANGE of a scan, whose iterations have an order."""
    return isinstance(op, RangeOp) and op.axis_type.data is AxisType.REDUCE
