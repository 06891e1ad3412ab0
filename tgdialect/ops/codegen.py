"""Codegen ops: generated code primitives; they do not appear in the tensor graph."""

from __future__ import annotations

import re
import string
from collections.abc import Container, Sequence
from typing import ClassVar, NamedTuple

from xdsl import irdl
from xdsl.dialects import builtin
from xdsl.ir import Attribute, Operation, Region, Use
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops.attributes import VOID, AxisType, NumberAttr, WmmaAttr
from tgdialect.ops.base import (
    INDEX_SCALAR,
    SIGNATURE,
    TENSOR,
    VOID_EDGE,
    PureInGraph,
    TgOp,
    Value,
    ValueOp,
    VoidOp,
)
from tgdialect.ops.dtypes import BOOL
from tgdialect.ops.instructions import INSTRUCTIONS, InstructionSignature
from tgdialect.ops.memory import verify_cells
from tgdialect.ops.ordering import EDGE, LinearOp
from tgdialect.ops.properties import dtype_of, is_memory, known_index, tensor
from tgdialect.ops.sorts import SORTS
from tgdialect.ops.source import BinaryDataOp


@op_definition
class BarrierOp(VoidOp):
    """BARRIER (deps...): synchronise the threads of a workgroup.

    `%1 = tg.barrier %0 : !tg.void`
    """

    name = "tg.barrier"

    dependencies = irdl.var_operand_def(EDGE)

    traits = irdl.traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "custom<Edges>($dependencies) attr-dict (`:` type($dependencies)^)?"

    def __init__(self, dependencies: Sequence[Value]):
        self.infer(dependencies)

    def verify_rule(self) -> None:
        parent = self.parent_op()
        if parent is not None and not (isinstance(parent, TgOp) and parent.HOLDS_KERNEL):
            raise VerifyException(f"a barrier is inside a kernel, not in {parent.name}")


@op_definition
class InsOp(TgOp):
    """INS, mnemonic, dtype: a single machine instruction of a target: "target.mnemonic".

    The target is the name of one, or the part of it before a colon, for all of them.
    Its table of instructions gives the dtypes (docs/instructions.md). The operands have the shape
    of the result: the instruction computes cell by cell. Those of a matrix instruction are the
    fragments of A, B and C of a work item, as in WMMA. Of an unknown target, an instruction is
    foreign code, which is executed with `allow_custom` only.

    `%1 = tg.ins "cpu.popcnt"(%0) : tensor<ui32>`
    """

    name = "tg.ins"

    mnemonic = irdl.prop_def(builtin.StringAttr)
    arguments = irdl.var_operand_def(TENSOR)
    result = irdl.result_def(irdl.AnyAttr())

    traits = irdl.traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = f"$mnemonic `(` $arguments `)` {SIGNATURE}"

    def __init__(self, mnemonic: str, arguments: Sequence[Value], type: Attribute = VOID):
        self.infer(arguments, {"mnemonic": builtin.StringAttr(mnemonic)}, type=type)

    @property
    def target(self) -> str:
        """The target, or the vendor of targets, that has the instruction."""
        return self.mnemonic.data.partition(".")[0]

    @property
    def instruction(self) -> str:
        """The name of the instruction."""
        return self.mnemonic.data.partition(".")[2]

    @property
    def is_foreign(self) -> bool:
        """Whether no table has the target: the instruction is foreign code."""
        return self.target not in INSTRUCTIONS

    @property
    def signature(self) -> InstructionSignature | None:
        """The row of the target's table for these dtypes; None if the table has none."""
        operands = [dtype_of(operand) for operand in self.arguments]
        result = None if self.result.type == VOID else dtype_of(self.result)
        rows = INSTRUCTIONS.get(self.target, {}).get(self.instruction, ())
        return next((row for row in rows if row.accepts(operands, result)), None)

    @property
    def config(self) -> WmmaAttr | None:
        """The fragments that a matrix instruction multiplies; None for other instructions."""
        signature = self.signature
        return signature and signature.config

    def verify_rule(self) -> None:
        if not self.target or not self.instruction:
            raise VerifyException(f'{self.mnemonic} is no "target.mnemonic", as "cpu.popcnt"')
        if self.is_foreign:
            return
        if (rows := (table := INSTRUCTIONS[self.target]).get(self.instruction)) is None:
            from difflib import get_close_matches

            nearest = get_close_matches(self.instruction, table)
            hint = f"did you mean {' or '.join(nearest)}? " if nearest else ""
            there_are = f"there are: {', '.join(table)}" if table else "it has none"
            raise VerifyException(
                f"target {self.target} has no instruction {self.instruction}; {hint}{there_are}"
            )
        types = builtin.FunctionType.from_lists(
            [a.type for a in self.arguments], [self.result.type]
        )
        signature, wanted = self.signature, " or ".join(map(str, rows))
        if any(is_memory(value) for value in self.operands) or signature is None:
            raise VerifyException(f"{self.instruction} of {self.target} is {wanted}, not {types}")
        shape = () if self.result.type == VOID else tensor(self.result).get_shape()
        found = [*(tensor(argument).get_shape() for argument in self.arguments), shape]
        if found != signature.shapes(shape):
            what = f"{self.instruction} of {self.target} is {wanted}, not"
            if signature.config is None:
                what = "the operands of an instruction have the result's shape:"
            raise VerifyException(f"{what} {types}")


@op_definition
class SpecialOp(TgOp):
    """SPECIAL (bound,), name: a thread or workgroup index: gidx0, lidx1, idx2.

    `%1 = tg.special "gidx0" to %0 : tensor<index>`
    """

    name = "tg.special"

    symbol = irdl.prop_def(builtin.StringAttr, prop_name="name")
    bound = irdl.operand_def(INDEX_SCALAR)
    result = irdl.result_def(INDEX_SCALAR)

    traits = irdl.traits_def(PureInGraph())

    assembly_format = "$name `to` $bound attr-dict `:` type($bound)"

    def __init__(self, name: str, bound: Value):
        self.infer((bound,), {"name": builtin.StringAttr(name)})

    @property
    def axis_type(self) -> AxisType:
        """The type of a RANGE with the same meaning: LOCAL of a work item's index in its workgroup,
        GLOBAL of other indices."""
        return AxisType.LOCAL if self.symbol.data.startswith("lidx") else AxisType.GLOBAL

    def verify_rule(self) -> None:
        if not re.fullmatch(r"(gidx|lidx|idx)[0-2]", self.symbol.data):
            raise VerifyException(f"{self.symbol} is not gidx, lidx or idx and 0, 1 or 2")
        if (bound := known_index(self.bound)) is not None and bound < 1:
            raise VerifyException(f"the bound of {self.symbol} is not positive: {bound}")


@op_definition
class IfOp(VoidOp):
    """IF (gate,): begin a block that executes only where the gate is true.

    `%1 = tg.if %0 : tensor<i1>`
    """

    name = "tg.if"

    OPENS_BLOCK: ClassVar[bool] = True

    gate = irdl.operand_def(TENSOR)

    traits = irdl.traits_def(MemoryWriteEffect())

    assembly_format = "$gate attr-dict `:` type($gate)"

    def __init__(self, gate: Value):
        self.infer((gate,))

    def verify_rule(self) -> None:
        type = tensor(self.gate)
        if type.element_type != BOOL or type.get_shape():
            raise VerifyException(f"the gate of an IF is tensor<i1>, not {type}")
        ends = [u.operation for u in self.result.uses if isinstance(u.operation, EndIfOp)]
        if len(ends) != 1:
            raise VerifyException(f"an IF has one ENDIF, not {len(ends)}")


@op_definition
class EndIfOp(VoidOp):
    """ENDIF (if,): end a conditional block.

    `%2 = tg.endif %1`
    """

    name = "tg.endif"

    CLOSES: ClassVar[slice | None] = slice(1)

    begin = irdl.operand_def(VOID_EDGE)

    traits = irdl.traits_def(MemoryWriteEffect())

    assembly_format = "$begin attr-dict"

    def __init__(self, begin: Value):
        self.infer((begin,))

    def verify_rule(self) -> None:
        if not isinstance(self.begin.owner, IfOp):
            raise VerifyException("an ENDIF ends an IF")


@op_definition
class WmmaOp(ValueOp):
    """WMMA (A, B, acc), config: warp matrix multiply-accumulate, acc + A @ B, in acc's dtype.

    `%3 = tg.wmma %0, %1, %2 config <16x8x16>
      : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>`
    """

    name = "tg.wmma"

    config = irdl.prop_def(WmmaAttr)
    a = irdl.operand_def(TENSOR)
    b = irdl.operand_def(TENSOR)
    accumulator = irdl.operand_def(TENSOR)

    assembly_format = f"$a `,` $b `,` $accumulator `config` $config {SIGNATURE}"

    def __init__(self, a: Value, b: Value, accumulator: Value, config: WmmaAttr):
        self.infer((a, b, accumulator), {"config": config})

    def verify_rule(self) -> None:
        for label, operand, shape in zip(
            ("A", "B", "the accumulator"), self.operands, self.config.operand_shapes, strict=True
        ):
            if tensor(operand).get_shape() != shape:
                wanted = "x".join(str(d) for d in shape)
                raise VerifyException(f"{label} of this wmma has shape {wanted}: {operand.type}")
        a, b, accumulator = (dtype_of(operand) for operand in self.operands)
        if a != b:
            raise VerifyException(f"A is {a.name}, B is {b.name}")
        if a.is_bool or a.is_float != accumulator.is_float or accumulator.bits < a.bits:
            raise VerifyException(f"{a.name} does not accumulate in {accumulator.name}")


def is_shared_factor(use: Use) -> bool:
    """Whether a use is that of A or B by a WMMA each of whose threads holds the whole of it."""
    op = use.operation
    return isinstance(op, WmmaOp) and use.index < 2 and op.config.is_shared("ab"[use.index])


def warp_of(op: Operation) -> int:
    """How many work items compute an op together: a SHUFFLE, or the product of fragments."""
    if isinstance(op, ShuffleOp):
        return op.threads.data
    config = op.config if isinstance(op, WmmaOp | InsOp) else None
    return 1 if config is None else config.threads


@op_definition
class ShuffleOp(ValueOp):
    """SHUFFLE (value,), distance, threads: the value that another work item of the warp has: its
    number is that of this one XOR `distance`.

    `threads` neighbouring work items of a workgroup are a warp. As a BARRIER, it is reached by all
    work items of a workgroup or by none.

    `%1 = tg.shuffle %0 xor 4 of 32 : tensor<f32>`
    """

    name = "tg.shuffle"

    value = irdl.operand_def(TENSOR)
    distance = irdl.prop_def(NumberAttr)
    threads = irdl.prop_def(NumberAttr)

    assembly_format = f"$value `xor` custom<Int>($distance) `of` custom<Int>($threads) {SIGNATURE}"

    def __init__(self, value: Value, distance: int, threads: int):
        self.infer((value,), {"distance": NumberAttr(distance), "threads": NumberAttr(threads)})

    def verify_rule(self) -> None:
        if is_memory(self.value):
            raise VerifyException(f"SHUFFLE takes a value, not memory: {self.value.type}")
        distance, threads = self.distance.data, self.threads.data
        if threads < 2 or threads & (threads - 1):
            raise VerifyException(f"a warp has a power of two of work items, not {threads}")
        if not 0 < distance < threads:
            raise VerifyException(f"the distance is 1 to {threads - 1} in a warp, not {distance}")


def verify_format(fmt: str, arguments: int) -> None:
    """A CUSTOM format has one `{}` or `{i}` placeholder per argument."""
    try:
        parsed = [each for each in string.Formatter().parse(fmt) if each[1] is not None]
    except ValueError as e:
        raise VerifyException(f"{fmt!r} is not a format: {e}") from e
    if any(spec or conversion for _, _, spec, conversion in parsed):
        raise VerifyException(f"{fmt!r} has a placeholder with a format of its own: write {{i}}")
    fields = [name or "" for _, name, _, _ in parsed]
    numbered = [str(i) for i in range(arguments)]
    if fields != [""] * arguments and sorted(set(fields)) != sorted(numbered):
        raise VerifyException(f"{fmt!r} has placeholders {fields} for {arguments} arguments")


_CALL = re.compile(r"\s*([A-Za-z_][\w.]*)\s*\(((?:\s*\{\d*\}\s*,)*(?:\s*\{\d*\}\s*)?)\)\s*;?\s*")
_PLACEHOLDER = re.compile(r"\{(\d*)\}")


class CustomCall(NamedTuple):
    """A function that a CUSTOM calls: its name, and which operand is each of its arguments."""

    name: str
    order: Sequence[int]


@op_definition
class CustomOp(TgOp):
    """CUSTOM (args...), fmt: inject a code string into the generated source.

    Its operands are values; of vectors, the code is executed for each lane. Nothing executes it
    unless the caller says `allow_custom`. `inline` marks an expression, which is written where its
    value is used. `by` names a function that the caller registers, and that is called instead.

    `%1 = tg.custom "__builtin_popcount({0})"(%0) : tensor<i32>`
    """

    name = "tg.custom"

    fmt = irdl.prop_def(builtin.StringAttr)
    function = irdl.opt_prop_def(builtin.StringAttr)
    arguments = irdl.var_operand_def(TENSOR)
    result = irdl.result_def(irdl.AnyAttr())

    traits = irdl.traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = f"$fmt `(` $arguments `)` (`by` $function^)? {SIGNATURE}"

    def __init__(self, fmt: str, arguments: Sequence[Value], type: Attribute = VOID):
        self.infer(arguments, {"fmt": builtin.StringAttr(fmt)}, type=type)

    @property
    def is_inline(self) -> bool:
        """Whether it is an expression, without effects."""
        return "inline" in self.attributes

    @property
    def call(self) -> CustomCall | None:
        """The call that a format like `f({1}, {0})` is; None for other code."""
        if (found := _CALL.fullmatch(self.fmt.data)) is None:
            return None
        fields = enumerate(_PLACEHOLDER.findall(found[2]))
        return CustomCall(found[1], [int(field or number) for number, field in fields])

    def call_of(self, functions: Container[str]) -> CustomCall | None:
        """The call of the one of some functions that stands for the code: by the name that it
        calls, or by the whole format, which takes the operands as they are."""
        call = self.call
        if call is not None and call.name in functions:
            return call
        fmt = self.fmt.data
        return CustomCall(fmt, range(len(self.arguments))) if fmt in functions else None

    def verify_rule(self) -> None:
        verify_format(self.fmt.data, len(self.arguments))


@op_definition
class AtomicAddOp(VoidOp):
    """ATOMICADD (idx, val): an atomic read-modify-write, buf[idx] += val.

    `%2 = tg.atomicadd %0, %1 : tensor<f32, #tg.place<global>>, tensor<f32>`
    """

    name = "tg.atomicadd"

    buffer = irdl.operand_def(TENSOR)
    value = irdl.operand_def(TENSOR)

    traits = irdl.traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "$buffer `,` $value attr-dict `:` type($buffer) `,` type($value)"

    def __init__(self, buffer: Value, value: Value):
        self.infer((buffer, value))

    def verify_rule(self) -> None:
        if not is_memory(self.buffer):
            raise VerifyException(f"ATOMICADD writes memory, not {self.buffer.type}")
        verify_cells(self.buffer, self.value)


@op_definition
class CustomFunctionOp(VoidOp):
    """CUSTOMFUNCTION (meta...), name: an opaque device function, invoked through CALL.

    `reads` and `writes` are the arguments whose memory it reads and writes; without either it may
    read and write all. Of an argument that it writes and does not read it writes every cell.

    `%0 = tg.customfunction @hevc_decode() reads [0] writes [1]`
    """

    name = "tg.customfunction"

    sym_name = irdl.prop_def(builtin.SymbolNameConstraint())
    reads = irdl.opt_prop_def(builtin.DenseArrayBase.constr(builtin.i64))
    writes = irdl.opt_prop_def(builtin.DenseArrayBase.constr(builtin.i64))
    meta = irdl.var_operand_def(TENSOR)

    traits = irdl.traits_def(SymbolOpInterface())

    assembly_format = (
        "$sym_name `(` $meta `)` (`reads` custom<Integers>($reads)^)? "
        "(`writes` custom<Integers>($writes)^)? attr-dict (`:` type($meta)^)?"
    )

    def __init__(
        self,
        name: str,
        meta: Sequence[Value] = (),
        reads: Sequence[int] | None = None,
        writes: Sequence[int] | None = None,
    ):
        given = {"reads": reads, "writes": writes}
        effects = {
            k: builtin.DenseArrayBase.from_list(builtin.i64, v)
            for k, v in given.items()
            if v is not None
        }
        self.infer(meta, {"sym_name": builtin.StringAttr(name), **effects})

    def effects(self, arguments: int) -> tuple[frozenset[int], frozenset[int]]:
        """Which of its arguments it reads, and which it writes."""
        if self.reads is None and self.writes is None:
            return frozenset(range(arguments)), frozenset(range(arguments))
        reads, writes = (_slots(array) for array in (self.reads, self.writes))
        return frozenset(reads), frozenset(writes)

    def verify_rule(self) -> None:
        for kind, array in (("reads", self.reads), ("writes", self.writes)):
            slots = _slots(array)
            if any(slot < 0 for slot in slots) or len(set(slots)) < len(slots):
                raise VerifyException(f"{kind} lists arguments by number, each once: {[*slots]}")
        name = self.sym_name.data
        if name in SORTS and self.effects(2) != (frozenset([0]), frozenset([1])):
            raise VerifyException(f"@{name} is built in, and reads [0] writes [1]")


def _slots(array: builtin.DenseArrayBase[builtin.IntegerType] | None) -> Sequence[int]:
    return () if array is None else array.get_values()


@op_definition
class SourceOp(VoidOp):
    """SOURCE (), str: human-readable rendered source code.

    Its `language` is a target of tg-opt, as `c`, `opencl` or `ptx`.

    `%0 = tg.source "void k(float *x) { *x = 1.5; }" in "c"`
    """

    name = "tg.source"

    text = irdl.prop_def(builtin.StringAttr)
    language = irdl.opt_prop_def(builtin.StringAttr)

    assembly_format = "$text (`in` $language^)? attr-dict"

    def __init__(self, text: str, language: str | None = None):
        said = {} if language is None else {"language": builtin.StringAttr(language)}
        self.infer((), {"text": builtin.StringAttr(text), **said})


@op_definition
class ProgramOp(TgOp):
    """PROGRAM (linear, source, binary): a compiled kernel, a symbol that CALL refers to.

    Its body holds a LINEAR, then a SOURCE and a BINARY once they are made.

    `tg.program @k { %0 = tg.linear { %1 = tg.const 1.5 : tensor<f32> } }`
    """

    name = "tg.program"

    sym_name = irdl.prop_def(builtin.SymbolNameConstraint())
    body = irdl.region_def("single_block")

    traits = irdl.traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

    assembly_format = "$sym_name attr-dict-with-keyword $body"

    def __init__(self, name: str, body: Region):
        Operation.__init__(self, properties={"sym_name": unchecked.text(name)}, regions=(body,))

    @property
    def linear(self) -> LinearOp:
        """The instructions."""
        first = self.body.block.first_op
        if not isinstance(first, LinearOp):
            raise VerifyException("a program begins with a tg.linear")
        return first

    @property
    def source(self) -> SourceOp | None:
        """The SOURCE, if it is made."""
        return next((op for op in self.body.block.ops if isinstance(op, SourceOp)), None)

    @property
    def binary(self) -> BinaryDataOp | None:
        """The machine code, if it is made."""
        return next((op for op in self.body.block.ops if isinstance(op, BinaryDataOp)), None)

    @property
    def machine_code(self) -> bytes:
        """The machine code that it has already; empty if it has none."""
        data = b"" if self.binary is None else self.binary.data.data
        assert isinstance(data, bytes), "a program whose machine code is in a file is not valid"
        return data

    @property
    def calls(self) -> bool:
        """Whether it calls other programs, and computes nothing but which memory they get."""
        return any(op.name == "tg.call" for op in ops_of(self.linear.body.block))

    def verify_(self) -> None:
        kinds = [type(op) for op in self.body.block.ops]
        _ = self.linear
        if kinds[1:] not in ([], [SourceOp], [BinaryDataOp], [SourceOp, BinaryDataOp]):
            raise VerifyException("a program holds a linear, then a source and a binary at most")
        if self.binary is not None and not isinstance(self.binary.data.data, bytes):
            raise VerifyException("the machine code of a program is in its text, and in no file")
