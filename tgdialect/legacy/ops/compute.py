"""Arithmetic whose rules differ from the specification's, reductions along axes, and WMMA."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.irdl import operand_def, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.alu import ALU, TRUNCATED, domain_of
from tgdialect.legacy.attributes import MATRICES, LegacyWmmaAttr
from tgdialect.legacy.base import SIGNATURE, PureOp
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR, Value
from tgdialect.ops.elementwise import Domain
from tgdialect.ops.properties import dtype_of, tensor

OPERATIONS = (*ALU, *TRUNCATED)
"""The names of the operations of ALU."""


def _arity(operation: str) -> int:
    return {"UnaryOps": 1, "BinaryOps": 2, "TernaryOps": 3}[operation.split(".")[0]]


@op_definition
class AluOp(PureOp):
    """ALU (a, b?, c?), operation: arithmetic on each element, in the tutorial's age.

    Arguments: the operation, such as BinaryOps.MUL.
    Sources: as many as the operation takes.
    Stage: linear listings.
    Becomes: the elementwise op of that operation.

    `%2 = tg_legacy.alu "BinaryOps.MUL" %0, %1 : tensor<f32>`
    """

    name = "tg_legacy.alu"

    operation = prop_def(StringAttr)
    arguments = var_operand_def(TENSOR)

    assembly_format = f"$operation $arguments {SIGNATURE}"

    def __init__(self, operation: str, arguments: Sequence[Value]):
        self.infer(arguments, {"operation": StringAttr(operation)})

    def verify_rule(self) -> None:
        operation = self.operation.data
        if operation not in OPERATIONS:
            raise VerifyException(f"{operation!r} is not one of {', '.join(OPERATIONS)}")
        if len(self.arguments) != (arity := _arity(operation)):
            raise VerifyException(f"{operation} has {arity} sources, got {len(self.arguments)}")
        dtypes = [dtype_of(argument) for argument in self.arguments]
        if dtypes[0] not in (domain := domain_of(operation)):
            raise VerifyException(f"{operation} is defined on {domain.value}, not {dtypes[0].name}")
        match operation:
            case "TernaryOps.WHERE":
                is_same = dtypes[1] == dtypes[2]
            case "BinaryOps.SHL" | "BinaryOps.SHR":
                is_same = dtypes[1].is_integer
            case _:
                is_same = len(set(dtypes)) == 1
        if not is_same:
            raise VerifyException(f"{operation} of {' and '.join(d.name for d in dtypes)}")


class QuotientOp(PureOp, ABC):
    """An op on two numbers of one dtype."""

    DOMAIN: ClassVar[Domain] = Domain.INTEGER

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)

    assembly_format = f"$lhs `,` $rhs {SIGNATURE}"

    def verify_rule(self) -> None:
        lhs, rhs = dtype_of(self.lhs), dtype_of(self.rhs)
        if lhs not in self.DOMAIN:
            raise VerifyException(f"{self.name} is defined on {self.DOMAIN.value}, not {lhs.name}")
        if lhs != rhs:
            raise VerifyException(f"operands have different dtypes: {lhs.name} and {rhs.name}")


@op_definition
class IDivOp(QuotientOp):
    """IDIV (a, b): the quotient of integers, rounded toward zero; x / 0 is 0.

    Arguments: none.
    Sources: two integers.
    Stage: all.
    Becomes: `tg.idiv`, which rounds down, plus 1 where the signs differ and there is a remainder.

    `%2 = tg_legacy.idiv %0, %1 : tensor<i32>`
    """

    name = "tg_legacy.idiv"


@op_definition
class ModOp(QuotientOp):
    """MOD (a, b): the remainder of IDIV, which has the sign of a; x mod 0 is 0.

    Arguments: none.
    Sources: two integers.
    Stage: all.
    Becomes: `tg.mod`, which has the sign of b, minus b where the signs differ and it is not 0.

    `%2 = tg_legacy.mod %0, %1 : tensor<i32>`
    """

    name = "tg_legacy.mod"


@op_definition
class FDivOp(QuotientOp):
    """FDIV (a, b): the quotient of floats.

    Arguments: none.
    Sources: two floats.
    Stage: all.
    Becomes: `tg.div`.

    `%2 = tg_legacy.fdiv %0, %1 : tensor<f32>`
    """

    name = "tg_legacy.fdiv"
    DOMAIN: ClassVar[Domain] = Domain.FLOAT


@op_definition
class ReduceAxisOp(PureOp):
    """REDUCE_AXIS (u), operation, axes: reduce along axes, which become 1.

    Arguments: add, mul or max, and the axes.
    Sources: what is reduced.
    Stage: high level, lowering.
    Becomes: `tg.reduce`.

    `%1 = tg_legacy.reduce_axis add %0 [1] : tensor<4x8xf32> -> tensor<4x1xf32>`
    """

    name = "tg_legacy.reduce_axis"

    kind = prop_def(tg.ReduceKindAttr, prop_name="op")
    source = operand_def(TENSOR)
    axes = prop_def(DenseArrayBase.constr(i64))

    assembly_format = (
        "$op $source custom<Integers>($axes) attr-dict `:` type($source) `->` type($result)"
    )


@op_definition
class WmmaOp(PureOp):
    """WMMA (A, B, C), configuration: C + A @ B, computed by a group of threads.

    Each operand is the vector of the elements that one thread holds.

    Arguments: the name, dims, dtypes, device, threads, and the axes that are upcast and reduced.
    Sources: A, B and the accumulator.
    Stage: codegen.
    Becomes: `tg.wmma`, for one thread, or for a device whose fragments are known.

    `%3 = tg_legacy.wmma %0, %1, %2 config
       <"WMMA_8_16_16_half_float", [8, 16, 16], f16, f32, "CUDA", 32,
        [[[0, 8]], [[0, 4]], [[0, 4]]], [3]>
      : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>`
    """

    name = "tg_legacy.wmma"

    config = prop_def(LegacyWmmaAttr)
    a = operand_def(TENSOR)
    b = operand_def(TENSOR)
    accumulator = operand_def(TENSOR)

    assembly_format = f"$a `,` $b `,` $accumulator `config` $config {SIGNATURE}"

    def verify_rule(self) -> None:
        dtypes = self.config.dtype_in, self.config.dtype_in, self.config.dtype_out
        for matrix, operand, lanes, dtype in zip(
            MATRICES, self.operands, self.config.lanes, dtypes, strict=True
        ):
            type = tensor(operand)
            if type.element_type != dtype or type.get_shape() != (lanes,):
                raise VerifyException(
                    f"a thread holds {lanes} elements of {dtype} of {matrix}, not {type}"
                )
