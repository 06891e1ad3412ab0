"""SCAN, an op of ours: a FUNCTION that is evaluated once for each step, on the state that the step
before has left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, UnitAttr
from xdsl.ir import Region, SSAValue
from xdsl.irdl import opt_prop_def, prop_def, region_def, result_def, traits_def, var_operand_def
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.ops.attributes import NumberAttr
from tgdialect.ops.base import TENSOR, TUPLE, PureInGraph, TgOp, Value
from tgdialect.ops.call import TupleOp, foreign_memory
from tgdialect.ops.dtypes import BOOL, INDEX
from tgdialect.ops.properties import (
    NAME_THE_EXTENT,
    Dim,
    place,
    polynomial,
    same_dim,
    same_shape,
    scan_extent,
    shape_of,
    show_dim,
    tensor,
    tensor_type,
)
from tgdialect.ops.properties.symbolic import Atom, substituted
from tgdialect.ops.source import ParamOp, parameters


@op_definition
class ScanOp(TgOp):
    """SCAN (body, s0, ..., x0, ..., c0, ...): the body, evaluated for one step after the other.

    The arguments are `states` states, `sequences` sequences with an element for each step along
    their first axis, and constants. PARAM k of the body is argument k: a state as the step before
    has left it, the element of a sequence, or a constant. The body's TUPLE has the new states, then
    values of which the results stack one for each step. `reverse` goes from the last element to the
    first, also of what is stacked.

    The number of steps is an integer, or argument `steps_at`: a constant that is an index scalar,
    and may be 0. The `?` of a PARAM are index PARAMs; the argument has the extents that these are.

    With `while` the first state is a bool: the steps end when it is false. What the steps that are
    not taken would stack is 0.

    `%1 = tg.scan(%h, %xs, %w) states 1 sequences 1 steps 8 {
       %s = tg.param 0 : tensor<4xf32>
       %x = tg.param 1 : tensor<4xf32>
       %c = tg.param 2 : tensor<f32>
       %p = tg.mul %s, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
       %n = tg.add %p, %x : tensor<4xf32>
       %t = tg.tuple %n, %p : (tensor<4xf32>, tensor<4xf32>)
         -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
     } : (tensor<4xf32>, tensor<8x4xf32>, tensor<f32>)
       -> !tg.tuple<tensor<4xf32>, tensor<8x4xf32>>`
    """

    name = "tg.scan"

    arguments = var_operand_def(TENSOR)
    states = prop_def(NumberAttr)
    sequences = prop_def(NumberAttr)
    steps = opt_prop_def(NumberAttr)
    steps_at = opt_prop_def(NumberAttr)
    reverse = opt_prop_def(UnitAttr)
    is_while = opt_prop_def(UnitAttr, prop_name="while")
    body = region_def("single_block")
    result = result_def(TUPLE)

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), PureInGraph())

    assembly_format = (
        "`(` $arguments `)` `states` custom<Int>($states) `sequences` custom<Int>($sequences) "
        "(`steps` custom<Int>($steps)^)? (`steps_at` custom<Int>($steps_at)^)? "
        "(`reverse` $reverse^)? (`while` $while^)? "
        "attr-dict-with-keyword $body `:` custom<Signature>(functional-type(operands, results))"
    )

    def __init__(
        self,
        arguments: Sequence[Value],
        body: Region,
        *,
        states: int,
        sequences: int,
        steps: int | None = None,
        steps_at: int | None = None,
        reverse: bool = False,
        is_while: bool = False,
    ):
        """The number of steps is an integer or the number of an argument."""
        properties = {
            "states": NumberAttr(states),
            "sequences": NumberAttr(sequences),
            "steps": None if steps is None else NumberAttr(steps),
            "steps_at": None if steps_at is None else NumberAttr(steps_at),
            "reverse": UnitAttr() if reverse else None,
            "while": UnitAttr() if is_while else None,
        }
        self.infer(arguments, properties, regions=(body,))

    @property
    def extent(self) -> int | SSAValue:
        """The number of steps."""
        return scan_extent(self)

    @property
    def results_of_body(self) -> Sequence[SSAValue]:
        """The new states, and what is stacked."""
        last = self.body.block.last_op
        if not isinstance(last, TupleOp):
            raise VerifyException("the body of a scan ends in a tg.tuple")
        return last.values

    def is_sequence(self, slot: int) -> bool:
        """Whether an argument is a sequence."""
        return 0 <= slot - self.states.data < self.sequences.data

    def slot_of_parameter(self, value: SSAValue) -> int | None:
        """The slot of a value of the body that is a PARAM; None for any other value."""
        return value.owner.slot.data if isinstance(value.owner, ParamOp) else None

    def verify_rule(self) -> None:
        states, sequences = self.states.data, self.sequences.data
        if min(states, sequences) < 0 or (self.steps is not None and self.steps.data < 1):
            raise VerifyException(
                "the numbers of states and sequences are not negative, and there is a step"
            )
        params = parameters(self.body.block)
        if len(params) != len(self.arguments) or states + sequences > len(params):
            raise VerifyException(
                f"the body has {len(params)} parameters for {len(self.arguments)} arguments, of "
                f"which {states} are states and {sequences} sequences"
            )
        if (self.steps is None) == (self.steps_at is None):
            raise VerifyException("a SCAN has either `steps` or `steps_at`")
        if self.steps_at is not None:
            slot = self.steps_at.data
            is_constant = states + sequences <= slot < len(params)
            if not is_constant or self.arguments[slot].type != tensor_type(INDEX):
                raise VerifyException(
                    f"argument {slot} is the number of steps, and no constant tensor<index>"
                )
        given: dict[Atom, Dim] = {p.result: a for p, a in zip(params, self.arguments, strict=True)}
        for slot, param in enumerate(params):
            self._verify_argument(slot, param, given)
        results = self.results_of_body
        if len(results) < states:
            raise VerifyException(f"the body gives {len(results)} values for {states} states")
        for slot, (param, new) in enumerate(zip(params, results[:states], strict=False)):
            old, type = tensor(param.result), tensor(new)
            if old.element_type != type.element_type or not same_shape(
                shape_of(param.result), shape_of(new)
            ):
                raise VerifyException(f"state {slot} is {type}, the parameter {old}")
        if self.is_while is not None:
            flag = tensor(self.arguments[0]) if states else None
            if flag is None or flag.element_type != BOOL or flag.get_shape():
                raise VerifyException("the first state of a SCAN with `while` is a tensor<i1>")
        for op in self.body.walk():
            if (memory := foreign_memory(op)) is not None:
                message = f"this {op.name} has an effect on memory that is not the step's own"
                raise locate(VerifyException(message), memory)

    def _verify_argument(self, slot: int, param: ParamOp, given: Mapping[Atom, Dim]) -> None:
        """Raise VerifyException for an argument that is not like its PARAM, given all of them."""
        argument = self.arguments[slot]
        type, wanted = tensor(argument), tensor(param.result)
        if place(argument).axis is not None:
            raise VerifyException(f"argument {slot} is split among devices: a SCAN takes it whole")
        shape = shape_of(argument)
        if self.is_sequence(slot):
            if not shape or not same_dim(shape[0], self.extent):
                raise VerifyException(
                    f"sequence {slot} is {type}, for {show_dim(self.extent)} steps"
                )
            shape = shape[1:]
        inner = wanted.get_shape()
        is_like = type.element_type == wanted.element_type and len(shape) == len(inner)
        if not is_like or any(
            i not in (e, DYNAMIC_INDEX) for i, e in zip(inner, shape, strict=True)
        ):
            if self.is_sequence(slot):
                raise VerifyException(f"elements of sequence {slot} are of {type}, not {wanted}")
            raise VerifyException(f"argument {slot} is {type}, the parameter {wanted}")
        for axis, (dim, extent) in enumerate(zip(shape_of(param.result), shape, strict=True)):
            value = None if isinstance(dim, int) else substituted(polynomial(dim), given)
            if not isinstance(dim, int) and (value is None or value != polynomial(extent)):
                raise VerifyException(
                    f"axis {axis} of argument {slot}, of {show_dim(extent)} cells, is not known to "
                    f"have those of the parameter; {NAME_THE_EXTENT}"
                )
