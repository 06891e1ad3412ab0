"""Which reductions `tg-simplify` turns into arithmetic: a sum of indices, or a count."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.lowering.rangeify.kernel import KernelBuilder
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import is_memory, shape_of, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp
from tgdialect.transforms.simplify import simplify


class ClosedForms:
    """Whether REDUCEs have a closed form, found by simplifying a kernel that computes each."""

    def __init__(self) -> None:
        self._known: dict[ReduceOp, bool] = {}
        self._loops: set[Operation] = set()
        """The REDUCEs without a closed form."""
        self._constants: dict[Operation, Attribute] = {}
        """REDUCEs whose elements are all one number: kernels of other REDUCEs use the number."""

    def __call__(self, op: ReduceOp) -> bool:
        """Whether a REDUCE has a closed form.

        One that reads memory has none. One that reads a REDUCE without a closed form is not tried:
        the trials of a chain of REDUCEs would take quadratic time.
        """
        if (known := self._known.get(op)) is None:
            known = self._known[op] = not self._reads(op) and self._try(op)
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

    def _try(self, op: ReduceOp) -> bool:
        """Simplify a kernel that stores the elements of a REDUCE; whether no loop of it reduces."""
        builder = KernelBuilder({}, constants=self._constants)
        index, ranges = builder.loops(shape_of(op.result), AxisType.LOOP)
        cell = builder.cell(op.result, index)
        buffer = builder.local_buffer(tensor(op.result).element_type, ())
        store = StoreOp(buffer, cell.value)
        kernel = builder.finish("trial", [builder.put(store)], ranges)
        simplify(kernel)
        is_there = cell.valid is None and store.parent is not None
        if is_there and isinstance(constant := store.value.owner, ConstOp):
            self._constants[op] = constant.value
        return not any(
            isinstance(each, ReduceOp) or _carries_accumulator(each)
            for each in kernel.body.block.ops
        )


def _carries_accumulator(op: Operation) -> bool:
    """Whether an op is the RANGE of a scan, whose iterations have an order."""
    return isinstance(op, RangeOp) and op.axis_type.data is AxisType.REDUCE
