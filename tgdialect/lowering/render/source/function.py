"""A C-like language as an output of the walker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from itertools import count
from string import Formatter
from typing import cast

from xdsl.dialects.builtin import UNKNOWN_LOC, FloatAttr, IntegerType, LocationAttr, Signedness
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.custom import CallSignature
from tgdialect.lowering.render.dynamic_local import DynamicLocal
from tgdialect.lowering.render.elementwise import ComputedOp
from tgdialect.lowering.render.memory import copy_parts
from tgdialect.lowering.render.output import Output, refusal
from tgdialect.lowering.render.ptx import PROXY_FENCE
from tgdialect.lowering.render.source.accesses import SourceAccesses, View
from tgdialect.lowering.render.source.arithmetic import combine, compute, reinterpreted
from tgdialect.lowering.render.source.assembly import assembly, call_helper, multiply_in_place
from tgdialect.lowering.render.source.builder import (
    ANY_INDEX,
    LONG,
    Pointer,
    Precedence,
    Scalar,
    SourceValue,
    Vector,
    index_type,
    lanes_of,
    pointer_of,
    scalar_of,
    without_parentheses,
)
from tgdialect.lowering.render.source.language import Language
from tgdialect.lowering.render.source.placement import Placement
from tgdialect.ops import tg
from tgdialect.ops.dtypes import bits_of_nan
from tgdialect.targets.instructions import InstructionForm, language_of
from tgdialect.targets.matrix import MatrixInstruction

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_BLANK_LINES = re.compile(r"\n\s*\n")

_WORDS = {bits: IntegerType(bits, Signedness.UNSIGNED) for bits in (16, 32, 64)}
"""The dtypes of the bits of floats."""

_LONGEST = 88
"""The most characters of an expression that is written in another one. Larger: lines that are hard
to read; smaller: more variables."""


class SourceFunction(SourceAccesses, Output[SourceValue]):
    """A function under construction."""

    def __init__(
        self,
        language: Language,
        parameters: Sequence[SSAValue],
        ops: Sequence[Operation],
        written: Set[SSAValue],
        dynamic: DynamicLocal | None = None,
        called: Iterable[str] = (),
    ) -> None:
        """`ops` are those that will be rendered; `written` are the parameters that they write,
        `dynamic` is the LOCAL memory that the launch allocates, and `called` are the symbols that
        it may call."""
        self._placement, self._dynamic = Placement(ops), dynamic
        codes = [op.fmt.data for op in ops if isinstance(op, tg.CustomOp)]
        taken = {name for code in codes for name in _IDENTIFIER.findall(code)}
        names = [*map(language.names.symbol, called), *sorted(taken)]
        super().__init__(language, names)
        self.location: LocationAttr = UNKNOWN_LOC
        self.parameters: list[str] = []
        self.given: list[SourceValue] = []
        """The values of the parameters."""
        for slot, parameter in enumerate(parameters):
            self._parameter(parameter, slot, is_const=parameter not in written)
        self.parameters += language.parameters_after

    def _parameter(self, parameter: SSAValue, slot: int, *, is_const: bool) -> None:
        name = self.fresh(parameter.name_hint, (f"data{n}" for n in count(slot)))
        dtype = tg.dtype_of(parameter)
        if not tg.is_memory(parameter):
            text = self.language.scalar_parameter.format(type=self.type_name(dtype), name=name)
            self.parameters.append(text)
            known = MinMax()[parameter]
            self.given.append(Scalar(name, LONG, interval=known))
            return
        pointer = Pointer(name, self.stored(dtype), is_const=is_const)
        self.parameters.append(f"{self.pointer_type(pointer, dtype)}{name}")
        self.given.append(pointer)

    def unused_parameters(self) -> Sequence[str]:
        """A statement for each parameter that the body does not use: compilers warn of others."""
        words = {word for line in self.body for word in re.findall(r"(?<![.\w])\w+", line)}
        names = (
            value.base if isinstance(value, Pointer) else scalar_of(value).text
            for value in self.given
        )
        return [f"  (void){name};" for name in names if name not in words]

    # -- scalars

    def constant_of(self, value: Attribute, dtype: tg.DType) -> SourceValue:
        if dtype is tg.DTYPES[tg.INDEX]:
            return self.number(int(tg.number(value)))
        is_float = dtype.is_float and dtype.bits > 8
        bits = bits_of_nan(cast("FloatAttr", value)) if is_float else None
        if bits is not None:
            return reinterpreted(self, self.literal(bits, tg.DTYPES[_WORDS[dtype.bits]]), dtype)
        return self.literal(tg.number(value), dtype)

    def zero(self, dtype: tg.DType) -> SourceValue:
        return self.literal(0, dtype)

    def compute(
        self, op: Operation, operands: Sequence[SourceValue], intervals: MinMax
    ) -> SourceValue:
        lanes = zip(*(lanes_of(operand) for operand in operands), strict=True)
        found = tuple(compute(ComputedOp(self, op, lane, intervals)) for lane in lanes)
        return Vector(found) if isinstance(operands[0], Vector) else found[0]

    def define(self, result: SSAValue, value: SourceValue) -> SourceValue:
        """A value that is used once is written there, in its expression; others are variables."""
        if isinstance(value, Pointer):
            return value
        owner, hint = result.owner, result.name_hint
        is_load = isinstance(owner, tg.LoadOp)
        prefix = "val" if is_load else "t"
        if isinstance(value, Vector):
            return self._define_vector(result, value, prefix)
        if tg.dtype_of(result) is tg.DTYPES[tg.INDEX] and value.interval is None:
            value = replace(value, interval=ANY_INDEX)
        style = self.language.style
        is_named = style.names_loads and is_load and value.precedence < Precedence.NAME
        is_short = len(value.text) <= _LONGEST
        if is_short and not is_named and self._placement.is_inlined(result, reads=value.reads):
            return value
        if value.precedence is Precedence.NAME and not value.reads:
            return value
        return self.variable(value, hint, prefix)

    def _define_vector(self, result: SSAValue, value: Vector, prefix: str) -> SourceValue:
        hint, lanes = result.name_hint, tg.tensor(result).get_shape()[0]
        if value.whole:
            name = self.fresh(hint, self.numbered(prefix))
            dtype = tg.dtype_of(result)
            self.line(f"{self.vector_type(dtype, lanes)} {name} = {value.whole};")
            names = "xyzw" if lanes <= 4 else [f"s{lane:x}" for lane in range(lanes)]
            elements = (Scalar(f"{name}.{each}", dtype) for each in names[:lanes])
            return Vector(tuple(elements), name)
        reads = any(lane.reads for lane in value.elements)
        is_short = all(len(lane.text) <= _LONGEST for lane in value.elements)
        if is_short and self._placement.is_inlined(result, reads=reads):
            return value
        names = [f"{hint}_{lane}" if hint else None for lane in range(lanes)]
        return Vector(
            tuple(
                lane
                if lane.precedence is Precedence.NAME and not lane.reads
                else self.variable(lane, name, prefix)
                for lane, name in zip(value.elements, names, strict=True)
            )
        )

    # -- vectors

    def lanes(self, value: SourceValue) -> int:
        return len(value.elements) if isinstance(value, Vector) else 1

    def splat(self, value: SourceValue, lanes: int) -> SourceValue:
        if lanes == 1 or isinstance(value, Vector):
            return value
        return Vector((self.named(scalar_of(value)),) * lanes)

    def stack(self, lanes: Sequence[SourceValue]) -> SourceValue:
        return lanes[0] if len(lanes) == 1 else Vector(tuple(map(scalar_of, lanes)))

    def lane(self, vector: SourceValue, lane: int) -> SourceValue:
        return lanes_of(vector)[lane]

    def transposed(self, rows: Sequence[SourceValue]) -> Sequence[SourceValue]:
        count, columns = len(rows), list(zip(*map(lanes_of, rows), strict=True))
        if count == 1:
            return [lane for (lane,) in columns]
        return [Vector(column) for column in columns]

    def interleaved(self, rows: Sequence[SourceValue]) -> Sequence[SourceValue]:
        lanes = [lane for column in zip(*map(lanes_of, rows), strict=True) for lane in column]
        size = len(lanes) // len(rows)
        return [Vector(tuple(lanes[at : at + size])) for at in range(0, len(lanes), size)]

    def joined(self, parts: Sequence[SourceValue]) -> SourceValue:
        return self.stack([lane for part in parts for lane in lanes_of(part)])

    def across(self, op: tg.ReduceOp, vector: SourceValue) -> SourceValue:
        """The lanes in order; a float sum begins with +0."""
        kind, dtype = op.kind.data, tg.dtype_of(op.source)
        first, *rest = lanes_of(vector)
        if dtype.is_float and kind is tg.ReduceKind.ADD:
            first, rest = self.literal(tg.identity(kind, dtype), dtype), (first, *rest)
        for lane in rest:
            first = combine(self, kind, first, lane)
        return first

    def instruction(
        self, op: tg.InsOp, form: InstructionForm, operands: Sequence[SourceValue]
    ) -> SourceValue | None:
        if language_of(op.target) != self.language.name:
            raise refusal(op)
        return assembly(self, op, form, [lanes_of(operand) for operand in operands])

    def multiply_matrices(
        self, op: tg.WmmaOp, instruction: MatrixInstruction, fragments: Sequence[SourceValue]
    ) -> SourceValue:
        self._check_assembly(op, instruction)
        return multiply_in_place(self, instruction, self._addresses(fragments[:2]), fragments[2])

    def begin_sums(self, op: tg.WmmaOp, instruction: MatrixInstruction, sums: View | None) -> None:
        """Each product is added in memory, so that nothing is stored in the end."""
        assert sums is not None
        self._sums = self.start(sums)

    def multiply_add(
        self,
        op: tg.WmmaOp,
        instruction: MatrixInstruction,
        factors: Sequence[Sequence[SourceValue]],
    ) -> None:
        self._check_assembly(op, instruction)
        for pair in factors:
            call_helper(self, instruction, self._sums, self._addresses(pair))

    def _check_assembly(self, op: tg.WmmaOp, instruction: MatrixInstruction) -> None:
        """Refuse a matrix instruction that the language has no inline assembly of."""
        is_of_cpu = instruction.fragments.threads == 1
        if not (self.language.has_tiles if is_of_cpu else self.language.has_mma):
            raise refusal(op)

    def _addresses(self, factors: Sequence[SourceValue]) -> Sequence[str]:
        return [self.pointer_text(pointer_of(factor)) for factor in factors]

    def show_to_matrix_instructions(self) -> None:
        self.line(f'asm volatile("{PROXY_FENCE}" ::: "memory");')

    def shuffle_items(self, op: tg.ShuffleOp, value: SourceValue) -> SourceValue:
        """A variable of its own: in an expression it might stand where only some work items are."""
        dtype = tg.dtype_of(op.value)
        if (template := self.language.shuffles.get(dtype.name)) is None:
            raise refusal(op)
        text = template.format(
            value=self.named(scalar_of(value)).text,
            distance=op.distance.data,
            mask=f"0x{(1 << op.threads.data) - 1:x}",
            type=self.type_name(dtype),
        )
        return self.variable(Scalar(text, dtype, Precedence.POSTFIX), None, "t")

    # -- control flow

    def begin_loop(
        self, op: tg.RangeOp, bound: SourceValue, *, runs: bool, unrolls: bool
    ) -> SourceValue:
        limit = scalar_of(bound)
        known = limit.interval or ANY_INDEX
        interval = tg.Interval(0, max(int(known.hi) - 1, 0))
        dtype = index_type(known)
        self.begin_scope()
        name = self.fresh(op.result.name_hint, self.language.style.loop_names())
        scope = self._scopes.pop()
        type = self.type_name(dtype)
        text = f"({limit.text})" if limit.precedence < Precedence.SHIFT else limit.text
        if unrolls and self.language.unroll:
            self.line(self.language.unroll)
        self.open(f"for ({type} {name} = 0; {name} < {text}; {name}++)")
        self._scopes[-1] |= scope
        return Scalar(name, dtype, interval=interval)

    def end_loop(self) -> None:
        self.close()

    def begin_if(self, condition: SourceValue) -> None:
        self.open(f"if ({scalar_of(condition).text})")

    def end_if(self) -> None:
        self.close()

    def begin_once(self, flag: SourceValue) -> None:
        self.open(f"if (*(int64_t *){self.pointer_text(pointer_of(flag))} == 0)")

    def end_once(self, flag: SourceValue) -> None:
        self.line(f"*(int64_t *){self.pointer_text(pointer_of(flag))} = 1;")
        self.close()

    def call(self, name: str, arguments: Sequence[SourceValue]) -> None:
        self.line(f"{self.language.names.symbol(name)}({self._arguments(arguments)});")

    def _arguments(self, arguments: Sequence[SourceValue]) -> str:
        return ", ".join(
            without_parentheses(self.pointer_text(a))
            if isinstance(a, Pointer)
            else scalar_of(a).text
            for a in arguments
        )

    def custom(self, op: tg.CustomOp, operands: Sequence[SourceValue]) -> SourceValue | None:
        """The code with each operand in parentheses. An operand that is used twice has a name."""
        texts: list[str] = []
        fields = [name for _, name, _, _ in Formatter().parse(op.fmt.data) if name]
        for position, operand in enumerate(map(scalar_of, operands)):
            value = self.named(operand) if fields.count(str(position)) > 1 else operand
            texts.append(f"({without_parentheses(value.text)})")
        # A blank line would end a section of the source.
        text = _BLANK_LINES.sub("\n", op.fmt.data.format(*texts))
        if isinstance(op.result.type, tg.VoidType):
            self.line(text if text.rstrip().endswith((";", "}")) else f"{text};")
            return None
        dtype, text = _number(tg.dtype_of(op.result).name), text.strip().removesuffix(";")
        value = Scalar(f"(({self.type_name(dtype)})({text}))", dtype, Precedence.POSTFIX)
        return value if op.is_inline else self.variable(value, op.result.name_hint, "t")

    def call_host(
        self, signature: CallSignature, arguments: Sequence[SourceValue], *, is_registered: bool
    ) -> SourceValue | None:
        if self.language.specials:
            return super().call_host(signature, arguments, is_registered=is_registered)
        types = [
            self.type_name(_number(argument.dtype))
            if argument.shape is None
            else "void *"
            if argument.writes
            else "const void *"
            for argument in signature.arguments
        ]
        types += ["int64_t"] * signature.extents
        symbol = signature.symbol if is_registered else self.language.names.symbol(signature.name)
        result = signature.result
        given = "void" if result is None else self.type_name(_number(result))
        self.helpers[symbol] = f"extern {given} {symbol}({', '.join(types) or 'void'});"
        text = f"{symbol}({self._arguments(arguments)})"
        if result is None:
            self.line(f"{text};")
            return None
        return self.variable(Scalar(text, _number(result), Precedence.POSTFIX), None, "t")

    def special(self, op: tg.SpecialOp, bound: SourceValue) -> SourceValue:
        kind, axis = op.symbol.data[:-1], int(op.symbol.data[-1])
        if (template := self.language.specials.get(kind)) is None:
            raise refusal(op)
        known = scalar_of(bound).interval or ANY_INDEX
        interval = tg.Interval(0, max(int(known.hi) - 1, 0))
        text = template.format(axis=axis, letter="xyz"[axis])
        value = Scalar(text, LONG, Precedence.POSTFIX, interval=interval)
        return self.named(value, op.result.name_hint or op.symbol.data)

    def copy_asynchronously(self, to: View, source: View, gate: SourceValue | None) -> bool:
        parts = copy_parts(self, to, source, gate) if self.language.async_copy else None
        for target, origin, bytes, exists in parts or ():
            template, known = self.language.async_copy, ""
            if exists is not None:
                template = self.language.async_copy_or_zeros
                condition, sizes = scalar_of(exists), map(self.number, (bytes, 0))
                known = self.choice(condition, *sizes).text
                # Nothing is read there, but the address may be looked up.
                if origin.index is not None:
                    index = self.choice(condition, scalar_of(origin.index), self.number(0))
                    origin = replace(origin, index=index)
            text = template.format(
                to=self.start(target),
                source=self.start(origin),
                bytes=bytes,
                known=known,
                caches="cg" if bytes == 16 else "ca",
            )
            for line in text.split("\n"):
                self.line(line)
        return parts is not None

    def wait_for_copies(self, pending: int) -> None:
        if self.language.async_wait:
            self.line(self.language.async_wait.format(pending=pending))

    def barrier(self, op: tg.BarrierOp) -> None:
        if self.language.barrier:
            self.line(self.language.barrier)


def _number(dtype: str) -> tg.DType:
    """The dtype of a number that is passed by value."""
    return LONG if dtype == tg.DTYPES[tg.INDEX].name else tg.DTYPES[tg.TYPES[dtype]]
