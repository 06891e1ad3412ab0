"""Layers on sequences: recurrent ones and attention, with PyTorch's names, shapes and gates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, cast

from tgdialect.frontend.loops import scan
from tgdialect.frontend.tensor import Tensor
from tgdialect.nn.layers import Linear, learnt

Tensors = Sequence[Tensor]


class Recurrent(ABC):
    """Layers that go through a sequence, one after the other, forth or also back, by a `scan`.

    The tensors of layer k are `weight_ih_l{k}`, `weight_hh_l{k}`, `bias_ih_l{k}` and
    `bias_hh_l{k}`; for the way back with the suffix `_reverse`.

    Args:
        input_size, hidden_size: the numbers of features of an input and of a state.
        num_layers: how many layers there are.
        bias: whether they have biases.
        batch_first: whether sequences are (batch, steps, features), not (steps, batch, features).
        dropout: the probability of dropout between layers, in training.
        bidirectional: whether each layer goes back as well; features of both ways are concatenated.
    """

    gates: ClassVar[int]
    """The number of gates, whose weights are stacked."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        self.batch_first, self.dropout = batch_first, dropout
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError(f"hidden_size {hidden_size} and num_layers {num_layers} are positive")
        self.input_size, self.hidden_size = input_size, hidden_size
        output_size = self.output_size
        self.num_layers, self.bias = num_layers, bias
        self.ways = ("", "_reverse") if bidirectional else ("",)
        rows, bound = self.gates * hidden_size, 1 / math.sqrt(hidden_size)
        for layer in range(num_layers):
            features = input_size if layer == 0 else output_size * len(self.ways)
            shapes = {"weight_ih": (rows, features), "weight_hh": (rows, output_size)}
            if bias:
                shapes |= dict.fromkeys(("bias_ih", "bias_hh"), (rows,))
            if output_size != hidden_size:
                shapes["weight_hr"] = output_size, hidden_size
            for way in self.ways:
                for name, shape in shapes.items():
                    weight = Tensor.uniform(*shape, low=-bound, high=bound)
                    setattr(self, f"{name}_l{layer}{way}", weight.requires_grad_())

    @property
    def output_size(self) -> int:
        """The number of features of an output."""
        return self.hidden_size

    def _weight(self, name: str, place: str) -> Tensor | None:
        return cast("Tensor | None", getattr(self, f"{name}_{place}", None))

    def _through(self, x: Tensor, states: Tensors) -> tuple[Tensor, list[Tensor]]:
        """The outputs for a sequence, and the last states of all layers.

        Args:
            x: the sequence, (steps, batch, features), or without the batch; in the layer's order.
            states: for each part of the state (layers * ways, batch, features); none for zeros.
        """
        has_batch = x.ndim == 3
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            raise ValueError(f"a sequence of shape {x.shape} for {self.input_size} features")
        if not has_batch:
            x, states = x.unsqueeze(1), [state.unsqueeze(1) for state in states]
        elif self.batch_first:
            x = x.transpose(0, 1)
        first = list(states) or [
            x.zeros(self.num_layers * len(self.ways), x.shape[1], size, dtype=x.dtype)
            for size in self.state_sizes
        ]
        last: list[list[Tensor]] = [[] for _ in first]
        for layer in range(self.num_layers):
            if layer:
                x = x.dropout(self.dropout)
            both: list[Tensor] = []
            for i, way in enumerate(self.ways):
                state = [part[layer * len(self.ways) + i] for part in first]
                outputs, state = self._one_way(x, state, f"l{layer}{way}", is_back=bool(way))
                both.append(outputs)
                for parts, part in zip(last, state, strict=True):
                    parts.append(part)
            x = both[0].cat(*both[1:], dim=-1)
        ends = [Tensor.stack(parts) for parts in last]
        if not has_batch:
            return x.squeeze(1), [end.squeeze(1) for end in ends]
        return x.transpose(0, 1) if self.batch_first else x, ends

    def _one_way(
        self, x: Tensor, state: Tensors, place: str, *, is_back: bool
    ) -> tuple[Tensor, Tensors]:
        """The outputs and the last state of a layer in one direction."""
        weight = self._weight("weight_ih", place)
        assert weight is not None
        inputs = x.linear(weight.T, self._weight("bias_ih", place))
        names = "weight_hh", "bias_hh", "weight_hr"
        # Transposed once, not in each step: rows that are contiguous need no packing.
        weights = tuple(
            w.T.contiguous() if w.ndim == 2 else w
            for name in names
            if (w := self._weight(name, place)) is not None
        )

        def step(state: Tensors, given: Tensor) -> tuple[Tensors, Tensor]:
            new = self.step(given, state, weights, self.bias)
            return new, new[0]

        last, outputs = scan(step, tuple(state), inputs, reverse=is_back)
        return outputs, last

    @property
    def state_sizes(self) -> Sequence[int]:
        """The numbers of features of the parts of the state; the first is the output."""
        return (self.output_size,)

    @staticmethod
    @abstractmethod
    def step(inputs: Tensor, state: Tensors, weights: Tensors, bias: bool) -> Tensors:
        """The state after a step.

        Args:
            inputs: the part of all gates that depends on the input, (batch, gates * hidden_size).
            state: the state before.
            weights: the weight of the state, (features, gates * hidden_size); its bias, if there is
                one; that of a projection.
            bias: whether there is a bias.
        """


class LSTM(Recurrent):
    """Long short-term memory (Hochreiter & Schmidhuber, 1997), with gates in the order i, f, g, o.

    With `proj_size` the output is the state times a weight `weight_hr_l{k}`. The other arguments
    are those of `Recurrent`.
    """

    gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
    ) -> None:
        if not 0 <= proj_size < hidden_size:
            raise ValueError(f"proj_size {proj_size} is not less than hidden_size {hidden_size}")
        self.proj_size = proj_size
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        )

    def __call__(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The outputs, and the last output and cell state of each layer."""
        outputs, (hidden, cell) = self._through(input, hx or ())
        return outputs, (hidden, cell)

    @property
    def output_size(self) -> int:
        return self.proj_size or self.hidden_size

    @property
    def state_sizes(self) -> Sequence[int]:
        return self.output_size, self.hidden_size

    @staticmethod
    def step(inputs: Tensor, state: Tensors, weights: Tensors, bias: bool) -> Tensors:
        hidden, cell = state
        i, f, g, o = (inputs + _from_state(hidden, weights, bias)).chunk(4, dim=1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * cell.tanh()
        projections = weights[1 + bias :]
        return (hidden.linear(projections[0]) if projections else hidden), cell


class LSTMCell:
    """One step of a long short-term memory (Hochreiter & Schmidhuber, 1997)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        bound = 1 / math.sqrt(hidden_size)
        self.weight_ih = learnt(hidden_size * 4, input_size, bound=bound)
        self.weight_hh = learnt(hidden_size * 4, hidden_size, bound=bound)
        self.bias_ih = learnt(hidden_size * 4, bound=bound) if bias else None
        self.bias_hh = learnt(hidden_size * 4, bound=bound) if bias else None

    def __call__(self, x: Tensor, hc: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next output and the next cell state."""
        size = self.weight_hh.shape[1]
        if hc is None:
            hc = (Tensor.zeros(x.shape[0], size), Tensor.zeros(x.shape[0], size))
        weights = [self.weight_hh.T] if self.bias_hh is None else [self.weight_hh.T, self.bias_hh]
        inputs = x.linear(self.weight_ih.T, self.bias_ih)
        output, cell = LSTM.step(inputs, hc, weights, self.bias_hh is not None)
        return output, cell


class GRU(Recurrent):
    """Gated recurrent units (Cho et al., 2014), with gates in the order r, z, n."""

    gates = 3

    def __call__(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The outputs, and the last output of each layer."""
        outputs, (hidden,) = self._through(input, () if hx is None else (hx,))
        return outputs, hidden

    @staticmethod
    def step(inputs: Tensor, state: Tensors, weights: Tensors, bias: bool) -> Tensors:
        (hidden,) = state
        given, own = inputs.chunk(3, dim=1), _from_state(hidden, weights, bias).chunk(3, dim=1)
        r, z = ((a + b).sigmoid() for a, b in zip(given[:2], own[:2], strict=True))
        new = (given[2] + r * own[2]).tanh()
        return ((1 - z) * new + z * hidden,)


def _from_state(hidden: Tensor, weights: Tensors, bias: bool) -> Tensor:
    """The part of all gates that depends on the state."""
    return hidden.linear(weights[0], weights[1] if bias else None)


class MultiheadAttention:
    """Attention of several heads, each in its own part of the features (Vaswani et al., 2017).

    Args:
        embed_dim, num_heads: the features of queries, and the heads that share them.
        dropout: the probability of dropout of attention weights, in training.
        bias: whether projections have biases.
        add_bias_kv: whether a learnt key and value are added at the end of the sequences.
        add_zero_attn: whether a key and value of zeros are added.
        kdim, vdim: the features of keys and values, by default those of queries.
        batch_first: whether sequences are (batch, steps, features), not (steps, batch, features).
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {embed_dim} features")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.add_zero_attn, self.batch_first = add_zero_attn, batch_first
        sizes = embed_dim, kdim or embed_dim, vdim or embed_dim

        def glorot(*shape: int) -> Tensor:
            return Tensor.glorot_uniform(*shape).requires_grad_()

        self.in_proj_weight = glorot(3 * embed_dim, embed_dim) if len({*sizes}) == 1 else None
        if self.in_proj_weight is None:
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight = (
                glorot(embed_dim, size) for size in sizes
            )
        self.in_proj_bias = Tensor.zeros(3 * embed_dim).requires_grad_() if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if self.out_proj.bias is not None:
            self.out_proj.bias = Tensor.zeros(embed_dim).requires_grad_()
        self.bias_k = glorot(1, 1, embed_dim) if add_bias_kv else None
        self.bias_v = glorot(1, 1, embed_dim) if add_bias_kv else None

    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The outputs, and the attention weights if they are needed.

        Args:
            query, key, value: sequences, or one of each without the axis of the batch.
            key_padding_mask: keys that are left out where it is true, or a number for each key that
                is added to the scores, (batch, keys).
            attn_mask: the same for each pair, (queries, keys) or (batch * heads, queries, keys).
            average_attn_weights: whether weights are the means over the heads.
            is_causal: whether `attn_mask` is causal; without a mask, a query sees no later keys.
        """
        has_batch = query.ndim == 3
        if not has_batch:
            query, key, value = (t.unsqueeze(0) for t in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = (t.transpose(0, 1) for t in (query, key, value))
        # Project to heads: (batch, heads, steps, features).
        q, k, v = self._projected(query, key, value)
        batch, steps = query.shape[:2]
        if self.bias_k is not None and self.bias_v is not None:
            shape = batch, 1, self.embed_dim
            k, v = k.cat(self.bias_k.expand(shape), dim=1), v.cat(self.bias_v.expand(shape), dim=1)
        if self.add_zero_attn:
            k, v = (t.pad((0, 0, 0, 1)) for t in (k, v))
        features = self.embed_dim // self.num_heads
        q, k, v = (
            t.reshape((batch, -1, self.num_heads, features)).transpose(1, 2) for t in (q, k, v)
        )
        # Mask the scores; keys that were added are never left out.
        scores = q.matmul(k.transpose(-2, -1)) * (1 / math.sqrt(features))
        keys = k.shape[-2]
        if is_causal and attn_mask is None:
            attn_mask = scores.arange(keys) > scores.arange(steps).unsqueeze(-1)
        if attn_mask is not None:
            if attn_mask.ndim == 3:
                attn_mask = attn_mask.reshape((batch, self.num_heads, *attn_mask.shape[1:]))
            scores = _masked(scores, attn_mask)
        if key_padding_mask is not None:
            scores = _masked(scores, key_padding_mask.reshape((batch, 1, 1, -1)))
        weights = scores.softmax(-1).dropout(self.dropout)
        merged = weights.matmul(v).transpose(1, 2).reshape((batch, steps, self.embed_dim))
        output = self.out_proj(merged)
        shown = weights.mean(1) if average_attn_weights else weights
        if not has_batch:
            output, shown = output.squeeze(0), shown.squeeze(0)
        elif not self.batch_first:
            output = output.transpose(0, 1)
        return output, shown if need_weights else None

    def _projected(self, *inputs: Tensor) -> list[Tensor]:
        """Queries, keys and values."""
        if self.in_proj_weight is None:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        else:
            weights = self.in_proj_weight.split(self.embed_dim)
        bias = self.in_proj_bias
        biases = [None] * 3 if bias is None else bias.split(self.embed_dim)
        return [x.linear(w.T, b) for x, w, b in zip(inputs, weights, biases, strict=True)]


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores without those where a mask is true, or plus the numbers of a mask. The last keys,
    which the mask does not have, stay."""
    mask = mask.pad((0, scores.shape[-1] - mask.shape[-1]))
    return mask.where(-math.inf, scores) if mask.dtype.is_bool else scores + mask
