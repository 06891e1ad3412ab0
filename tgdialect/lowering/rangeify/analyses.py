"""The analyses of a function that several passes of `tg-rangeify` ask; among them, which reductions
`tg-simplify` turns into arithmetic: a sum of indices, or a count."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.structure import Structures
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import acted, facts, may_act, trying
from tgdialect.lowering.rangeify.alike import Alike, Facts, Structure
from tgdialect.lowering.rangeify.kernel import ClosedForm, KernelBuilder
from tgdialect.lowering.rangeify.planning.online import OnlineSums
from tgdialect.ops import tg
from tgdialect.transforms.simplify import HANDLERS
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.reductions import repeat_reduction


class _Arithmetic(Engine):
    """Leaves a REDUCE without a closed form as it is, where others let a loop carry a sum. They may
    reverse the loop for it: then a RANGE would no longer stand for an index."""

    may_store = False


class ClosedForms:
    """Whether REDUCEs have a closed form, found by simplifying a kernel that computes each. Those
    of the same structure, as the masks of equal layers, are tried once."""

    def __init__(self, structures: Structures, intervals: MinMax) -> None:
        """`intervals` are those of the values of the function."""
        self._known: dict[tg.ReduceOp, bool] = {}
        self._loops: set[Operation] = set()
        """The REDUCEs without a closed form."""
        self.forms: dict[Operation, ClosedForm] = {}
        """The closed forms that kernels compute instead of REDUCEs, for those that depend on the
        index alone."""
        self._structures = structures
        self._facts = Facts()
        self._interval = self._facts.recorded(intervals.__getitem__)
        self._alike = Alike[tuple[bool, ClosedForm | None]]()
        """By the structure of what computes a REDUCE: whether it has a closed form, and the form if
        it depends on the index alone."""

    def __call__(self, op: tg.ReduceOp) -> bool:
        """Whether a REDUCE has a closed form.

        One that reads memory has none. One that reads a REDUCE without a closed form is not tried:
        the trials of a chain of REDUCEs would take quadratic time.
        """
        if (known := self._known.get(op)) is None:
            known = self._known[op] = not self._reads(op) and self._is_closed(op)
            if not known:
                self._loops.add(op)
        return known

    def form(self, value: SSAValue) -> ClosedForm | None:
        """The closed form that a kernel computes instead of a REDUCE; None if it has none."""
        return self.forms.get(value.owner) if isinstance(value.owner, Operation) else None

    def _reads(self, op: tg.ReduceOp) -> bool:
        """Whether a REDUCE depends on memory or on a REDUCE without a closed form. Those with a
        known form are leaves."""
        walk = tg.Walk(op.operands)
        for value in walk:
            if tg.is_memory(value) or value.owner in self._loops:
                return True
            if value.owner not in self.forms:
                walk.add(tg.operands_of(value))
        return False

    def _is_closed(self, op: tg.ReduceOp) -> bool:
        """Whether a REDUCE that reads no memory has a closed form."""
        computed = self._structures.computing([op.result], self._leaf)
        structure = computed and Structure(computed.text, [*computed.numbers], [])
        found = None if structure is None else self._alike.find(structure)
        if found is None:
            with self._facts.recording() as asked:
                found = self._try(op)
            if structure is not None:
                self._alike.add(structure, asked, found)
        is_closed, form = found
        if form is not None:
            self.forms[op] = form
        return is_closed

    def _leaf(self, value: SSAValue) -> str | None:
        """A REDUCE that is one number is a leaf. The number says what it is."""
        owner = value.owner
        form = self.forms.get(owner) if isinstance(owner, tg.TgOp) else None
        known = None if form is None else form.value.owner
        return str(known.value) if isinstance(known, tg.ConstOp) else None

    def _try(self, op: tg.ReduceOp) -> tuple[bool, ClosedForm | None]:
        """Simplify a kernel that stores the elements of a REDUCE: whether none is left in it, and
        what it stores if that depends on the index alone. That is an action: without it, the
        REDUCE is no closed form."""
        if not may_act():
            return False, None
        builder = KernelBuilder({}, {}, self.form, self._interval)
        shape = tg.shape_of(op.result)
        index, ranges = builder.loops(shape, tg.AxisType.LOOP)
        cell = builder.cell(op.result, index)
        buffer = builder.local_buffer(tg.tensor(op.result).element_type, ())
        store = tg.StoreOp(buffer, cell.value)
        block = builder.finish("trial", [builder.put(store)], ranges).body.block
        with trying():
            _Arithmetic(HANDLERS, repeat_reduction).run(block)
        if any(isinstance(each, tg.ReduceOp) for each in block.ops):
            return False, None
        acted("closed form", op)
        if cell.valid is not None or store.parent is None or not _is_of(store.value, ranges):
            return True, None
        axes = (axis for axis, extent in enumerate(shape) if extent != 1)
        return True, ClosedForm(dict(zip(ranges, axes, strict=True)), store.value)


def _is_of(value: SSAValue, ranges: Sequence[SSAValue]) -> bool:
    """Whether a value is computed from RANGEs and constants alone."""
    return all(
        isinstance(op, tg.ConstOp | tg.ElementwiseOp) or op.results[0] in ranges
        for op in tg.computed_from(value)
    )


ANALYSES = "analyses"
"""The kind of facts that are the analyses of functions. They stay true while `tg-rangeify` rewrites
a function: the passes keep what each value is."""


class Analyses:
    """Analyses of the values of a function."""

    def __init__(self) -> None:
        self.structures = Structures()
        self.intervals = MinMax()
        self.validity = Validity()
        self.is_closed = ClosedForms(self.structures, self.intervals)
        self.online: dict[Operation, OnlineSums] = {}
        """The sums over the exponentials of maxima that are planned, by these."""


def analyses_of(block: Block) -> Analyses:
    """The analyses of the body of a function: those of the pass before, in a scope of
    `kept_facts(ANALYSES)`, else new ones."""
    known = facts(ANALYSES)
    if block not in known:
        known[block] = Analyses()
    return known[block]
