"""Arithmetic whose rules differ from the specification's, reductions along axes, and WMMA."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.irdl import operand_def, prop_def, var_operand_def

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.alu import ALU, TRUNCATED, domain_of
from tgdialect.legacy.attributes import MATRICES, LegacyWmmaAttr
from tgdialect.legacy.base import PureOp
from tgdialect.legacy.rules import require
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR
from tgdialect.ops.elementwise import Domain

OPERATIONS = (*ALU, *TRUNCATED)
"""The names of the operations of ALU."""

_ARITIES = {"UnaryOps": 1, "BinaryOps": 2, "TernaryOps": 3}
"""How many sources an operation has, by its class."""


@op_definition
class AluOp(PureOp, op="alu", syntax="$operation $arguments"):
    """ALU (a, b?, c?), operation: arithmetic on each element, in the tutorial's age.

    Arguments: the operation, such as BinaryOps.MUL.
    Sources: as many as the operation takes.
    Stage: linear listings.
    Becomes: the elementwise op of that operation.

    `%2 = tg_legacy.alu "BinaryOps.MUL" %0, %1 : tensor<f32>`
    """

    operation = prop_def(StringAttr)
    arguments = var_operand_def(TENSOR)

    def verify_rule(self) -> None:
        operation = self.operation.data
        known = ", ".join(OPERATIONS)
        require(operation in OPERATIONS, f"{operation!r} is not one of {known}")
        arity, count = _ARITIES[operation.split(".")[0]], len(self.arguments)
        require(count == arity, f"{operation} has {arity} sources, got {count}")
        dtypes = [tg.dtype_of(argument) for argument in self.arguments]
        require_domain(dtypes[0], domain_of(operation), operation)
        match operation:
            case "TernaryOps.WHERE":
                is_same = dtypes[1] == dtypes[2]
            case "BinaryOps.SHL" | "BinaryOps.SHR":
                is_same = dtypes[1].is_integer
            case _:
                is_same = len(set(dtypes)) == 1
        require(is_same, f"{operation} of {' and '.join(d.name for d in dtypes)}")


def require_domain(dtype: tg.DType, domain: Domain, operation: str) -> None:
    """Raise VerifyException unless an operation is defined on a dtype."""
    require(dtype in domain, f"{operation} is defined on {domain.value}, not {dtype.name}")


class QuotientOp(PureOp, ABC, syntax="$lhs `,` $rhs"):
    """An op on two numbers of one dtype."""

    DOMAIN: ClassVar[Domain] = Domain.INTEGER

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)

    def verify_rule(self) -> None:
        lhs, rhs = tg.dtype_of(self.lhs), tg.dtype_of(self.rhs)
        require_domain(lhs, self.DOMAIN, self.name)
        require(lhs == rhs, f"operands have different dtypes: {lhs.name} and {rhs.name}")


@op_definition
class IDivOp(QuotientOp, op="idiv"):
    """IDIV (a, b): the quotient of integers, rounded toward zero; x / 0 is 0.

    Arguments: none.
    Sources: two integers.
    Stage: all.
    Becomes: `tg.idiv`, which rounds down, plus 1 where the signs differ and there is a remainder.

    `%2 = tg_legacy.idiv %0, %1 : tensor<i32>`
    """


@op_definition
class ModOp(QuotientOp, op="mod"):
    """MOD (a, b): the remainder of IDIV, which has the sign of a; x mod 0 is 0.

    Arguments: none.
    Sources: two integers.
    Stage: all.
    Becomes: `tg.mod`, which has the sign of b, minus b where the signs differ and it is not 0.

    `%2 = tg_legacy.mod %0, %1 : tensor<i32>`
    """


@op_definition
class FDivOp(QuotientOp, op="fdiv"):
    """FDIV (a, b): the quotient of floats.

    Arguments: none.
    Sources: two floats.
    Stage: all.
    Becomes: `tg.div`.

    `%2 = tg_legacy.fdiv %0, %1 : tensor<f32>`
    """

    DOMAIN: ClassVar[Domain] = Domain.FLOAT


@op_definition
class ReduceAxisOp(PureOp, op="reduce_axis"):
    """REDUCE_AXIS (u), operation, axes: reduce along axes, which become 1.

    Arguments: add, mul or max, and the axes.
    Sources: what is reduced.
    Stage: high level, lowering.
    Becomes: `tg.reduce`.

    `%1 = tg_legacy.reduce_axis add %0 [1] : tensor<4x8xf32> -> tensor<4x1xf32>`
    """

    kind = prop_def(tg.ReduceKindAttr, prop_name="op")
    source = operand_def(TENSOR)
    axes = prop_def(DenseArrayBase.constr(i64))

    assembly_format = (
        "$op $source custom<Integers>($axes) attr-dict `:` type($source) `->` type($result)"
    )


@op_definition
class WmmaOp(PureOp, op="wmma", syntax="$a `,` $b `,` $accumulator `config` $config"):
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

    config = prop_def(LegacyWmmaAttr)
    a = operand_def(TENSOR)
    b = operand_def(TENSOR)
    accumulator = operand_def(TENSOR)

    def verify_rule(self) -> None:
        dtypes = self.config.dtype_in, self.config.dtype_in, self.config.dtype_out
        for matrix, operand, lanes, dtype in zip(
            MATRICES, self.operands, self.config.lanes, dtypes, strict=True
        ):
            type = tg.tensor(operand)
            is_held = type.element_type == dtype and type.get_shape() == (lanes,)
            require(is_held, f"a thread holds {lanes} elements of {dtype} of {matrix}, not {type}")
