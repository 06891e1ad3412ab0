"""Codegen ops: generated code primitives; they do not appear in the tensor graph."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Operation, Region, SSAValue, Use
from xdsl.irdl import (
    AnyAttr,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from tgdialect import unchecked
from tgdialect.ops.attributes import VOID, AxisType, NumberAttr, WmmaAttr
from tgdialect.ops.base import INDEX_SCALAR, TENSOR, VOID_EDGE, PureInGraph, TgOp, Value
from tgdialect.ops.definitions import op_definition
from tgdialect.ops.dtypes import BOOL
from tgdialect.ops.memory import verify_cells
from tgdialect.ops.ordering import EDGE, LinearOp
from tgdialect.ops.properties import (
    dtype_of,
    is_memory,
    known_index,
    tensor,
)
from tgdialect.ops.source import BinaryDataOp
from tgdialect.ops.walk import ops_of


@op_definition
class BarrierOp(TgOp):
    """BARRIER (deps...): synchronise the threads of a workgroup.

    `%1 = tg.barrier %0 : !tg.void`
    """

    name = "tg.barrier"

    dependencies = var_operand_def(EDGE)
    result = result_def(VOID_EDGE)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "custom<Edges>($dependencies) attr-dict (`:` type($dependencies)^)?"

    def __init__(self, dependencies: Sequence[Value]):
        self.infer(dependencies)

    def verify_rule(self) -> None:
        parent = self.parent_op()
        if parent is not None and parent.name not in ("tg.kernel", "tg.linear", "tg_legacy.kernel"):
            raise VerifyException(f"a barrier is inside a kernel, not in {parent.name}")


INSTRUCTIONS: dict[str, frozenset[str]] = {}
"""The mnemonics that each target knows: `dialect.py` enters those of `targets`."""


@op_definition
class InsOp(TgOp):
    """INS, mnemonic, dtype: a single machine instruction of a target: "target.mnemonic".

    `%1 = tg.ins "target.rcp"(%0) : tensor<f32>`
    """

    name = "tg.ins"

    mnemonic = prop_def(StringAttr)
    arguments = var_operand_def(TENSOR)
    result = result_def(AnyAttr())

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        "$mnemonic `(` $arguments `)` attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, mnemonic: str, arguments: Sequence[Value], type: Attribute = VOID):
        self.infer(arguments, {"mnemonic": StringAttr(mnemonic)}, type=type)

    def verify_rule(self) -> None:
        target, _, instruction = self.mnemonic.data.partition(".")
        if not target or not instruction:
            raise VerifyException(f'{self.mnemonic} does not read "target.mnemonic"')
        if instruction not in INSTRUCTIONS.get(target, {instruction}):
            raise VerifyException(f"target {target} has no instruction {instruction}")


@op_definition
class SpecialOp(TgOp):
    """SPECIAL (bound,), name: a thread or workgroup index: gidx0, lidx1, idx2.

    `%1 = tg.special "gidx0" to %0 : tensor<index>`
    """

    name = "tg.special"

    symbol = prop_def(StringAttr, prop_name="name")
    bound = operand_def(INDEX_SCALAR)
    result = result_def(INDEX_SCALAR)

    traits = traits_def(PureInGraph())

    assembly_format = "$name `to` $bound attr-dict `:` type($bound)"

    def __init__(self, name: str, bound: Value):
        self.infer((bound,), {"name": StringAttr(name)})

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
class IfOp(TgOp):
    """IF (gate,): begin a block that executes only where the gate is true.

    `%1 = tg.if %0 : tensor<i1>`
    """

    name = "tg.if"

    OPENS_BLOCK: ClassVar[bool] = True

    gate = operand_def(TENSOR)
    result = result_def(VOID_EDGE)

    traits = traits_def(MemoryWriteEffect())

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
class EndIfOp(TgOp):
    """ENDIF (if,): end a conditional block.

    `%2 = tg.endif %1`
    """

    name = "tg.endif"

    begin = operand_def(VOID_EDGE)
    result = result_def(VOID_EDGE)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$begin attr-dict"

    def __init__(self, begin: Value):
        self.infer((begin,))

    @property
    def closed_blocks(self) -> Sequence[SSAValue]:
        return (self.begin,)

    def verify_rule(self) -> None:
        if not isinstance(self.begin.owner, IfOp):
            raise VerifyException("an ENDIF ends an IF")


@op_definition
class WmmaOp(TgOp):
    """WMMA (A, B, acc), config: warp matrix multiply-accumulate, acc + A @ B, in acc's dtype.

    `%3 = tg.wmma %0, %1, %2 config <16x8x16>
      : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>`
    """

    name = "tg.wmma"

    config = prop_def(WmmaAttr)
    a = operand_def(TENSOR)
    b = operand_def(TENSOR)
    accumulator = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(PureInGraph())

    assembly_format = (
        "$a `,` $b `,` $accumulator `config` $config attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

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


@op_definition
class ShuffleOp(TgOp):
    """SHUFFLE (value,), distance, threads: the value that another work item of the warp has: its
    number is that of this one XOR `distance`.

    `threads` neighbouring work items of a workgroup are a warp. As a BARRIER, it is reached by all
    work items of a workgroup or by none.

    `%1 = tg.shuffle %0 xor 4 of 32 : tensor<f32>`
    """

    name = "tg.shuffle"

    value = operand_def(TENSOR)
    distance = prop_def(NumberAttr)
    threads = prop_def(NumberAttr)
    result = result_def(TENSOR)

    traits = traits_def(PureInGraph())

    assembly_format = (
        "$value `xor` custom<Int>($distance) `of` custom<Int>($threads) attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

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
        fields = [name for _, name, _, _ in string.Formatter().parse(fmt) if name is not None]
    except ValueError as e:
        raise VerifyException(f"{fmt!r} is not a format: {e}") from e
    numbered = [str(i) for i in range(arguments)]
    if fields != [""] * arguments and sorted(set(fields)) != sorted(numbered):
        raise VerifyException(f"{fmt!r} has placeholders {fields} for {arguments} arguments")


@op_definition
class CustomOp(TgOp):
    """CUSTOM (args...), fmt: inject a code string into the generated source.

    Nothing executes it unless the caller says `allow_custom`. `inline` marks an expression.

    `%1 = tg.custom "__builtin_popcount({0})"(%0) : tensor<i32>`
    """

    name = "tg.custom"

    fmt = prop_def(StringAttr)
    arguments = var_operand_def(TENSOR)
    result = result_def(AnyAttr())

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        "$fmt `(` $arguments `)` attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, fmt: str, arguments: Sequence[Value], type: Attribute = VOID):
        self.infer(arguments, {"fmt": StringAttr(fmt)}, type=type)

    def verify_rule(self) -> None:
        verify_format(self.fmt.data, len(self.arguments))


@op_definition
class AtomicAddOp(TgOp):
    """ATOMICADD (idx, val): an atomic read-modify-write, buf[idx] += val.

    `%2 = tg.atomicadd %0, %1 : tensor<f32, #tg.place<global>>, tensor<f32>`
    """

    name = "tg.atomicadd"

    buffer = operand_def(TENSOR)
    value = operand_def(TENSOR)
    result = result_def(VOID_EDGE)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "$buffer `,` $value attr-dict `:` type($buffer) `,` type($value)"

    def __init__(self, buffer: Value, value: Value):
        self.infer((buffer, value))

    def verify_rule(self) -> None:
        if not is_memory(self.buffer):
            raise VerifyException(f"ATOMICADD writes memory, not {self.buffer.type}")
        verify_cells(self.buffer, self.value)


@op_definition
class CustomFunctionOp(TgOp):
    """CUSTOMFUNCTION (meta...), name: an opaque device function, invoked through CALL.

    `%0 = tg.customfunction @hevc_decode()`
    """

    name = "tg.customfunction"

    sym_name = prop_def(SymbolNameConstraint())
    meta = var_operand_def(TENSOR)
    result = result_def(VOID_EDGE)

    traits = traits_def(SymbolOpInterface())

    assembly_format = "$sym_name `(` $meta `)` attr-dict (`:` type($meta)^)?"

    def __init__(self, name: str, meta: Sequence[Value] = ()):
        self.infer(meta, {"sym_name": StringAttr(name)})


@op_definition
class SourceOp(TgOp):
    """SOURCE (), str: human-readable rendered source code.

    Its `language` is a target of tg-opt, as `c`, `opencl` or `ptx`.

    `%0 = tg.source "void k(float *x) { *x = 1.5; }" in "c"`
    """

    name = "tg.source"

    text = prop_def(StringAttr)
    language = opt_prop_def(StringAttr)
    result = result_def(VOID_EDGE)

    assembly_format = "$text (`in` $language^)? attr-dict"

    def __init__(self, text: str, language: str | None = None):
        said = {} if language is None else {"language": StringAttr(language)}
        self.infer((), {"text": StringAttr(text), **said})


@op_definition
class ProgramOp(TgOp):
    """PROGRAM (linear, source, binary): a compiled kernel, a symbol that CALL refers to.

    Its body holds a LINEAR, then a SOURCE and a BINARY once they are made.

    `tg.program @k { %0 = tg.linear { %1 = tg.const 1.5 : tensor<f32> } }`
    """

    name = "tg.program"

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

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
    def calls(self) -> bool:
        """Whether it calls other programs, and computes nothing but which memory they get."""
        return any(op.name == "tg.call" for op in ops_of(self.linear.body.block))

    def verify_(self) -> None:
        kinds = [type(op) for op in self.body.block.ops]
        _ = self.linear
        if kinds[1:] not in ([], [SourceOp], [BinaryDataOp], [SourceOp, BinaryDataOp]):
            raise VerifyException("a program holds a linear, then a source and a binary at most")
