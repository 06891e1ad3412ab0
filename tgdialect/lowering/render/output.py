"""The interface of an output language: one function under construction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.custom import CallSignature
from tgdialect.lowering.lacking import lacking
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.instructions import InstructionForm
from tgdialect.targets.matrix import MatrixInstruction

V = TypeVar("V")
"""A scalar, a vector or a pointer in the output language."""


@dataclass(frozen=True, slots=True)
class PointerView(Generic[V]):
    """Elements of a dtype from a pointer on: memory, or the location of an access."""

    memory: SSAValue
    """The PARAM, BUFFER or argument that the elements belong to."""
    pointer: V
    dtype: tg.DType
    alignment: int
    """The known alignment of the pointer, in bytes."""
    index: V | None = None
    """The position of the first element relative to the pointer; None is 0."""
    is_safe: bool = False
    """Whether the elements of an access are known to be valid at the pointer itself. A load under a
    scalar gate then reads there where its gate is false, without a branch or a mask."""
    lanes: int = 1
    """The number of elements of an access."""
    elements: tuple[PointerView[V], ...] = ()
    """The views of the single elements of a gather or scatter; empty if they are neighbours."""
    offsets: tuple[int, ...] = ()
    """The offsets of the elements from the pointer, if they are known and the elements between them
    may be loaded as well."""


_REFUSED = {
    "tg.wmma": "is a matrix instruction, which this output does not have",
    "tg.shuffle": "reads a register of another work item, which this output cannot",
    "tg.custom": "is code of another language, which this output cannot take",
    "tg.ins": "is an instruction, and this output has no inline assembly",
}
"""Ops that are not rendered, and why."""


LOADED_BOUND = (
    "the host launches kernels, and cannot load the bound of a loop from the memory of a device"
)
"""Why a loop of launches whose end is data is not rendered."""


def refusal(op: Operation, target: Target | None = None) -> PassFailedException:
    """Why an op is not rendered, for a target if that may be the reason."""
    reason = _REFUSED.get(op.name, "has to be lowered before tg-render")
    why = "" if target is None else lacking(op, target)
    return PassFailedException(f"{op.name} {reason}{why}")


class Output(ABC, Generic[V]):
    """A function in an output language, to which `walker.LinearWalker` appends.

    The walker says what happens, in order; an output says how that is written. Loops and
    conditionals nest. A vector of one lane is a scalar.
    """

    location: LocationAttr
    """The source location of what is appended."""

    # -- scalars

    @abstractmethod
    def constant_of(self, value: Attribute, dtype: tg.DType) -> V:
        """The number of a `tg.const`."""

    @abstractmethod
    def zero(self, dtype: tg.DType) -> V:
        """The scalar 0."""

    @abstractmethod
    def number(self, value: int) -> V:
        """An index."""

    @abstractmethod
    def add(self, a: V, b: V) -> V:
        """The sum of two indices."""

    @abstractmethod
    def multiply(self, a: V, b: V) -> V:
        """The product of two indices."""

    @abstractmethod
    def compute(self, op: Operation, operands: Sequence[V], intervals: MinMax) -> V:
        """An elementwise op or BITCAST, of scalars or of vectors of as many lanes."""

    @abstractmethod
    def define(self, result: SSAValue, value: V) -> V:
        """The value by which later ops refer to the result of an op."""

    # -- vectors

    @abstractmethod
    def lanes(self, value: V) -> int:
        """The lanes of a vector; 1 of a scalar."""

    @abstractmethod
    def splat(self, value: V, lanes: int) -> V:
        """A vector with a scalar in every lane; of a vector, that vector."""

    @abstractmethod
    def stack(self, lanes: Sequence[V]) -> V:
        """The vector of some scalars."""

    @abstractmethod
    def lane(self, vector: V, lane: int) -> V:
        """One element of a vector."""

    @abstractmethod
    def transposed(self, rows: Sequence[V]) -> Sequence[V]:
        """The columns of vectors: a power of two of them, of a multiple of as many lanes, or of a
        power of two lanes that divides their number."""

    @abstractmethod
    def interleaved(self, rows: Sequence[V]) -> Sequence[V]:
        """As many vectors as `rows`, a power of two of them: the first lane of each row, the second
        of each, and so on."""

    @abstractmethod
    def joined(self, parts: Sequence[V]) -> V:
        """The vector of the lanes of some vectors, one after the other."""

    def multiply_matrices(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, fragments: Sequence[V]
    ) -> V:
        """WMMA on the fragments of A, B and C that a lane holds, or pointers to factors in LOCAL
        memory; only some outputs have it."""
        raise refusal(op)

    keeps_sums: ClassVar[bool] = False
    """Whether sums may stay in registers while a loop runs."""

    def begin_sums(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, sums: PointerView[V] | None
    ) -> None:
        """Begin WMMAs of factors in memory that add to a REG buffer: load its sums, or make them 0.
        Only some outputs have these WMMAs."""
        raise refusal(op)

    def multiply_add(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, factors: Sequence[Sequence[V]]
    ) -> None:
        """WMMAs of pairs of factors in memory, added to the sums one after the other."""

    def end_sums(self, op: tg.WmmaOp, sums: PointerView[V]) -> None:
        """Store the sums."""

    def shuffle_items(self, op: tg.ShuffleOp, value: V) -> V:
        """SHUFFLE of a scalar; only some outputs have it."""
        raise refusal(op)

    def instruction(self, op: tg.InsOp, form: InstructionForm, operands: Sequence[V]) -> V | None:
        """INS in a form for the lanes of its operands; None if it has no result. Only some outputs
        have it."""
        raise refusal(op)

    @abstractmethod
    def across(self, op: tg.ReduceOp, vector: V) -> V:
        """REDUCE of a vector to a scalar."""

    # -- memory

    @abstractmethod
    def allocate_buffer(self, op: tg.BufferOp, bytes: int, alignment: int) -> V:
        """The pointer of a REG or LOCAL buffer."""

    @abstractmethod
    def address(self, view: PointerView[V]) -> V:
        """The pointer to the first element of a view."""

    @abstractmethod
    def load_view(self, view: PointerView[V], gate: V | None, alt: V | None) -> V:
        """The elements of a view; where the gate is false, `alt`, and memory is not touched."""

    @abstractmethod
    def store_view(self, value: V, view: PointerView[V], gate: V | None) -> None:
        """Store a value; a vector where its gate is true. A vector stored to a scalar view is 0
        in the whole buffer."""

    @abstractmethod
    def add_atomically(self, view: PointerView[V], value: V) -> None:
        """Add a value to an element, atomically; a bool by OR."""

    # -- control flow

    @abstractmethod
    def begin_loop(self, op: tg.RangeOp, bound: V, *, runs: bool, unrolls: bool) -> V:
        """Begin the loop of a RANGE and give its index; `runs` says that the bound is 1 or more,
        and `unrolls` that the compiler of the output is to unroll the loop."""

    @abstractmethod
    def end_loop(self) -> None:
        """End the innermost loop."""

    @abstractmethod
    def begin_if(self, condition: V) -> None:
        """Begin a block that runs if a condition holds."""

    @abstractmethod
    def end_if(self) -> None:
        """End that block."""

    @abstractmethod
    def begin_once(self, flag: V) -> None:
        """Begin a block that runs if the 8 bytes at a pointer are 0."""

    @abstractmethod
    def end_once(self, flag: V) -> None:
        """Set the flag, and end that block. A thread that finds the flag set sees all that the
        thread which has set it has written."""

    @abstractmethod
    def call(self, name: str, arguments: Sequence[V]) -> None:
        """Call a program."""

    def custom(self, op: tg.CustomOp, operands: Sequence[V]) -> V | None:
        """The code of a CUSTOM on scalars. Gives its result, unless that is void."""
        raise refusal(op)

    def call_host(
        self, signature: CallSignature, arguments: Sequence[V], *, is_registered: bool
    ) -> V | None:
        """Call a function of the host: by its symbol if it is registered, and else by its name.
        Gives its result, unless there is none; only code that the host runs can."""
        raise PassFailedException(
            f"the function {signature.name!r} runs on the host, and not on a device"
        )

    def special(self, op: tg.SpecialOp, bound: V) -> V:
        """The index of a work item or workgroup; only a grid has these."""
        raise refusal(op)

    def copy_asynchronously(
        self, to: PointerView[V], source: PointerView[V], gate: V | None
    ) -> bool:
        """Start copying elements, which goes on after this, or filling them with zeros where a gate
        is false; whether that can be done."""
        return False

    def wait_for_copies(self, pending: int) -> None:
        """Make a group of the copies started since the last one, and wait for all groups but the
        last `pending`."""

    def show_to_matrix_instructions(self) -> None:
        """Make what this work item has written to LOCAL memory visible to matrix instructions."""

    def barrier(self, op: tg.BarrierOp) -> None:
        """Wait for all work items of the workgroup; work items that are loops have been split."""
