"""SCAN, an op of ours: a FUNCTION that is evaluated once for each step, on the state that the step
before has left."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import opt_prop_def, prop_def, region_def, result_def, traits_def, var_operand_def
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.ops.attributes import NumberAttr
from tgdialect.ops.base import TENSOR, TUPLE, PureInGraph, TgOp, Value
from tgdialect.ops.call import TupleOp, foreign_memory
from tgdialect.ops.dtypes import BOOL
from tgdialect.ops.properties import place, tensor
from tgdialect.ops.source import ParamOp, parameters


@op_definition
class ScanOp(TgOp):
    """SCAN (body, s0, ..., x0, ..., c0, ...): the body, evaluated for one step after the other.

    The arguments are `states` states, `sequences` sequences with an element for each step along
    their first axis, and constants. PARAM k of the body is argument k: a state as the step before
    has left it, the element of a sequence, or a constant. The body's TUPLE has the new states, then
    values of which the results stack one for each step. `reverse` goes from the last element to the
    first, also of what is stacked.

    With `while` the first state is a bool: the steps end when it is false, and nothing is stacked.

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
    steps = prop_def(NumberAttr)
    reverse = opt_prop_def(UnitAttr)
    is_while = opt_prop_def(UnitAttr, prop_name="while")
    body = region_def("single_block")
    result = result_def(TUPLE)

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), PureInGraph())

    assembly_format = (
        "`(` $arguments `)` `states` custom<Int>($states) `sequences` custom<Int>($sequences) "
        "`steps` custom<Int>($steps) (`reverse` $reverse^)? (`while` $while^)? "
        "attr-dict-with-keyword $body `:` custom<Signature>(functional-type(operands, results))"
    )

    def __init__(
        self,
        arguments: Sequence[Value],
        body: Region,
        *,
        states: int,
        sequences: int,
        steps: int,
        reverse: bool = False,
        is_while: bool = False,
    ):
        properties = {
            "states": NumberAttr(states),
            "sequences": NumberAttr(sequences),
            "steps": NumberAttr(steps),
            "reverse": UnitAttr() if reverse else None,
            "while": UnitAttr() if is_while else None,
        }
        self.infer(arguments, properties, regions=(body,))

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
        states = self.states.data
        if min(states, self.sequences.data) < 0 or self.steps.data < 1:
            raise VerifyException(
                "the numbers of states and sequences are not negative, and there is a step"
            )
        params = parameters(self.body.block)
        if len(params) != len(self.arguments) or states + self.sequences.data > len(params):
            raise VerifyException(
                f"the body has {len(params)} parameters for {len(self.arguments)} arguments, of "
                f"which {states} are states and {self.sequences.data} sequences"
            )
        for slot, (param, argument) in enumerate(zip(params, self.arguments, strict=True)):
            self._verify_argument(slot, tensor(param.result), tensor(argument))
        results = self.results_of_body
        if len(results) < states:
            raise VerifyException(f"the body gives {len(results)} values for {states} states")
        for slot, (param, new) in enumerate(zip(params, results[:states], strict=False)):
            _verify_like("state", slot, tensor(param.result), tensor(new))
        if self.is_while is not None:
            flag = tensor(self.arguments[0]) if states else None
            if flag is None or flag.element_type != BOOL or flag.get_shape():
                raise VerifyException("the first state of a SCAN with `while` is a tensor<i1>")
            if len(results) > states:
                raise VerifyException("a SCAN with `while` stacks nothing")
        for op in self.body.walk():
            if (memory := foreign_memory(op)) is not None:
                message = f"this {op.name} has an effect on memory that is not the step's own"
                raise locate(VerifyException(message), memory)

    def _verify_argument(
        self, slot: int, wanted: TensorType[Attribute], given: TensorType[Attribute]
    ) -> None:
        if not (wanted.has_static_shape() and given.has_static_shape()):
            raise VerifyException(f"argument {slot} of a SCAN has a static shape, not {given}")
        if place(self.arguments[slot]).axis is not None:
            raise VerifyException(f"argument {slot} is split among devices: a SCAN takes it whole")
        if not self.is_sequence(slot):
            _verify_like("argument", slot, wanted, given)
            return
        steps = self.steps.data
        if given.get_shape()[:1] != (steps,):
            raise VerifyException(f"sequence {slot} is {given}, for {steps} steps")
        if (wanted.element_type, wanted.get_shape()) != (given.element_type, given.get_shape()[1:]):
            raise VerifyException(f"elements of sequence {slot} are of {given}, not {wanted}")


def _verify_like(
    what: str, slot: int, wanted: TensorType[Attribute], given: TensorType[Attribute]
) -> None:
    if (wanted.element_type, wanted.get_shape()) != (given.element_type, given.get_shape()):
        raise VerifyException(f"{what} {slot} is {given}, the parameter {wanted}")
