"""LSTM, GRU, RNN."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tgdialect.frontend.loops import scan
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.rules import NodeCall, Rules, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor


class _Activation(NamedTuple):
    """A function of a tensor, and the defaults of its parameters; None if it has none."""

    function: Callable[..., Tensor]
    alpha: float | None = None
    beta: float | None = None


_ACTIVATIONS = {
    "affine": _Activation(lambda x, a, b: x * a + b, 1.0, 0.0),
    "elu": _Activation(lambda x, a, _: (x < 0).where(a * (x.exp() - 1), x), 1.0),
    "hardsigmoid": _Activation(lambda x, a, b: (x * a + b).clamp(0, 1), 0.2, 0.5),
    "leakyrelu": _Activation(lambda x, a, _: (x < 0).where(x * a, x), 0.01),
    "relu": _Activation(lambda x, *_: x.relu()),
    "scaledtanh": _Activation(lambda x, a, b: (x * b).tanh() * a, 1.0, 1.0),
    "sigmoid": _Activation(lambda x, *_: x.sigmoid()),
    "softplus": _Activation(lambda x, *_: x.softplus()),
    "softsign": _Activation(lambda x, *_: x / (x.abs() + 1)),
    "tanh": _Activation(lambda x, *_: x.tanh()),
    "thresholdedrelu": _Activation(lambda x, a, _: (x >= a).where(x, 0), 1.0),
}

_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Whether each direction of a layer is from the last element on."""


class _Layer:
    """A recurrent layer of one or two directions, which are one axis of all tensors in a step.

    Parts of sequences beyond their lengths leave the state as it is, and their outputs are 0.
    """

    def __init__(
        self,
        call: NodeCall,
        operands: Sequence[Value],
        gates: int,
        default: Sequence[str],
        *,
        direction: str = "forward",
        layout: int = 0,
        clip: float | None = None,
        activations: Sequence[str] | None = None,
        activation_alpha: Sequence[float] = (),
        activation_beta: Sequence[float] = (),
        hidden_size: int | None = None,
        products: Sequence[Callable[[Tensor], Tensor]] | None = None,
    ) -> None:
        """`products` are those of inputs and of hidden states with weights, if they are not W and R
        as they are."""
        given = [None if value is None else as_tensor(value) for value in operands]
        x, w, r, bias, lengths, *self.states = [*given, *[None] * (8 - len(given))]
        if x is None or w is None or r is None:
            raise Refused("X, W and R are needed")
        if direction not in _DIRECTIONS:
            raise Refused(f"direction {direction!r}: {', '.join(_DIRECTIONS)}")
        self.reverse, self.layout, self.clip = _DIRECTIONS[direction], layout, clip
        count = len(self.reverse)
        self.hidden = int(r.shape[-1])
        if hidden_size not in (None, self.hidden):
            raise Refused(f"hidden_size {hidden_size}: R has {self.hidden}")
        self.gates, self._call = gates, call
        self.sequence = x.transpose(0, 1) if layout else x
        self.steps, self.batch = self.sequence.shape[:2]
        self.r, w = r.transpose(-1, -2), w.transpose(-1, -2)
        of_inputs, self.of_hidden = products or (lambda x: x.matmul(w), lambda h: h.matmul(self.r))
        bias = Tensor.zeros(count, 2 * gates * self.hidden, dtype=x.dtype) if bias is None else bias
        self.w_bias = bias[:, : gates * self.hidden].unsqueeze(1)
        self.r_bias = bias[:, gates * self.hidden :].unsqueeze(1)
        # (steps, 1, batch, inputs) times (directions, inputs, gates).
        inputs = of_inputs(self.sequence.unsqueeze(1))
        self.inputs = self._in_order(inputs + self.w_bias)
        self.is_valid: Tensor | None = None
        if lengths is not None:
            numbers = Tensor.arange(self.steps).reshape((-1, 1, 1, 1))
            lengths = self._of_batch(lengths, 0)
            mask = numbers < lengths.reshape((1, 1, -1, 1))
            self.is_valid = self._in_order(mask.expand((self.steps, count, self.batch, 1)))
        names = [name.lower() for name in activations or [*default] * count]
        names = names[: len(default) * count]  # RNN's default has two of them.
        if len(names) < len(default) * count:
            raise Refused(f"activations: {len(names)} for {count} directions")
        alphas, betas = iter(activation_alpha), iter(activation_beta)
        found: list[tuple[_Activation, float | None, float | None]] = []
        for name in names:
            if (each := _ACTIVATIONS.get(name)) is None:
                raise Refused(f"activation {name} is not supported")
            alpha = None if each.alpha is None else next(alphas, each.alpha)
            beta = None if each.beta is None else next(betas, each.beta)
            found.append((each, alpha, beta))
        self._functions = [found[i :: len(default)] for i in range(len(default))]

    def _in_order(self, x: Tensor) -> Tensor:
        """Steps in the order of each direction."""
        if not any(self.reverse):
            return x
        parts = [x[:, d].flip(0) if r else x[:, d] for d, r in enumerate(self.reverse)]
        return Tensor.stack(*parts, dim=1)

    def activated(self, position: int, x: Tensor, *, is_clipped: bool = True) -> Tensor:
        """The activation at a position in the layer's list, of each direction. Cells of an LSTM are
        not clipped, as in ONNX Runtime."""
        if self.clip is not None and is_clipped:
            x = x.clamp(-self.clip, self.clip)
        of_directions = self._functions[position]
        if len(set(of_directions)) == 1:
            ((each, alpha, beta), *_) = of_directions
            return each.function(x, alpha, beta)
        parts = [each.function(x[d], a, b) for d, (each, a, b) in enumerate(of_directions)]
        return Tensor.stack(*parts)

    def parts(self, x: Tensor, first: int = 0, last: int | None = None) -> list[Tensor]:
        """The gates of the last axis."""
        count = self.gates if last is None else last
        h = self.hidden
        return [x[..., i * h : (i + 1) * h] for i in range(first, count)]

    def _of_batch(self, x: Tensor, axis: int) -> Tensor:
        """A tensor with the batch's extent as that of an axis. Whether two symbolic sizes are equal
        is a question."""
        if x.shape[axis] == self.batch:
            return x
        if self._call.sign(x.shape[axis], self.batch) != 0:
            raise ValueError(f"a batch of {self.batch} and one of {x.shape[axis]}")
        # Not a view: that it is inside of the tensor is known for the present sizes only.
        return x.index_select(axis, Tensor.arange(self.batch))

    def initial(self, given: Tensor | None) -> Tensor:
        """A first state: (directions, batch, hidden)."""
        if given is not None:
            return self._of_batch(given.transpose(0, 1) if self.layout else given, 1)
        shape = len(self.reverse), self.batch, self.hidden
        return Tensor.zeros(*shape, dtype=self.sequence.dtype)

    def run(
        self, step: Callable[[tuple[Tensor, ...], Tensor], tuple[Tensor, ...]], *states: Tensor
    ) -> tuple[Tensor, ...]:
        """The outputs of all steps, and the last states. The first state is the output of a step,
        which gets the states and the inputs' part of the gates."""

        def f(before: tuple[Tensor, ...], elements: Any) -> Any:
            inputs, is_valid = elements
            after = step(before, inputs)
            output = after[0]
            if is_valid is not None:
                after = tuple(is_valid.where(a, b) for a, b in zip(after, before, strict=True))
                output = is_valid.where(output, 0)
            return after, output

        sequences = self.inputs, self.is_valid
        if self.steps == 1:  # As in streams: no loop.
            last, output = f(states, [None if t is None else t[0] for t in sequences])
            outputs = output.unsqueeze(0)
        else:
            last, outputs = scan(f, states, sequences)
        outputs = self._in_order(outputs)
        if self.layout:
            outputs = outputs.permute((2, 0, 1, 3))
            last = tuple(t.transpose(0, 1) for t in last)
        return (outputs, *last)


def _rnn(call: NodeCall, *operands: Value, **attributes: Any) -> tuple[Tensor, ...]:
    layer = _Layer(call, operands, 1, ("Tanh",), **attributes)

    def step(before: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, ...]:
        (h,) = before
        return (layer.activated(0, inputs + h.matmul(layer.r) + layer.r_bias),)

    return layer.run(step, layer.initial(layer.states[0]))


def _gru(
    call: NodeCall, *operands: Value, linear_before_reset: int = 0, **attributes: Any
) -> tuple[Tensor, ...]:
    layer = _Layer(call, operands, 3, ("Sigmoid", "Tanh"), **attributes)
    two = 2 * layer.hidden

    def step(before: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, ...]:
        (h,) = before
        both = h.matmul(layer.r[..., :two]) + layer.r_bias[..., :two]
        z, r = layer.parts(layer.activated(0, inputs[..., :two] + both), 0, 2)
        weights, bias = layer.r[..., two:], layer.r_bias[..., two:]
        if linear_before_reset:
            hidden = r * (h.matmul(weights) + bias)
        else:
            hidden = (r * h).matmul(weights) + bias
        hidden = layer.activated(1, inputs[..., two:] + hidden)
        return ((1 - z) * hidden + z * h,)

    return layer.run(step, layer.initial(layer.states[0]))


def lstm(
    call: NodeCall, *operands: Value, input_forget: int = 0, **attributes: Any
) -> tuple[Tensor, ...]:
    """LSTM."""
    layer = _Layer(call, operands, 4, ("Sigmoid", "Tanh", "Tanh"), **attributes)
    first_h, first_c, peepholes = layer.states
    p: list[Tensor] = []
    if peepholes is not None:
        p = layer.parts(peepholes.unsqueeze(1), 0, 3)

    def step(before: tuple[Tensor, ...], inputs: Tensor) -> tuple[Tensor, ...]:
        h, c = before
        i, o, f, g = layer.parts(inputs + layer.of_hidden(h) + layer.r_bias)
        i = layer.activated(0, i + p[0] * c if p else i)
        f = 1 - i if input_forget else layer.activated(0, f + p[2] * c if p else f)
        c = f * c + i * layer.activated(1, g)
        o = layer.activated(0, o + p[1] * c if p else o)
        return o * layer.activated(2, c, is_clipped=False), c

    return layer.run(step, layer.initial(first_h), layer.initial(first_c))


RULES: Rules = {
    "GRU": {1: raw(_gru)},
    "LSTM": {1: raw(lstm)},
    "RNN": {1: raw(_rnn)},
}
