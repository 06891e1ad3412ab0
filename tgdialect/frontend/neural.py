"""Functions for neural networks: normalisation, attention, dropout and losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, Self

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import ArgumentError, check_integers, check_tensors
from tgdialect.frontend.indexing import Indexing
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.random import Random
from tgdialect.frontend.symbolic import SymInt, greatest, larger
from tgdialect.frontend.tracing import is_tracing

Reduce = Literal["none", "mean", "sum"]


class Neural(Indexing):
    """Layers without state."""

    __slots__ = ()

    training: bool = False
    """Whether dropout drops and batch norm uses the batch's statistics; set by `Tensor.train`."""

    def sequential(self, ll: Sequence[Callable[[Self], Self]]) -> Self:
        """Apply one function after the other."""
        result = self
        for function in ll:
            result = function(result)
        return result

    @rounded_once
    def layernorm(self, axis: int | Sequence[int] = -1, eps: float = 1e-05) -> Self:
        """(self - mean) / sqrt(variance + eps) along axes."""
        x = self._float()
        y = x - x.mean(axis, keepdim=True)
        return y * ((y * y).mean(axis, keepdim=True) + eps).sqrt().reciprocal()

    @rounded_once
    def batchnorm(
        self,
        weight: Self | None,
        bias: Self | None,
        mean: Self,
        invstd: Self,
        axis: int | Sequence[int] = 1,
    ) -> Self:
        """(self - mean) * invstd * weight + bias, with statistics along the other axes."""
        axes = self._axes(axis)
        shape = tuple(d if i in axes else 1 for i, d in enumerate(self.shape))
        x = self - mean.reshape(shape)
        if weight is not None:
            x = x * weight.reshape(shape)
        result = x * (invstd.reshape(shape) if invstd.ndim == len(axes) else invstd)
        return result if bias is None else result + bias.reshape(shape)

    def _check_axes(self, name: str, count: int) -> None:
        if self.ndim < count:
            raise ValueError(f"{name} of shape {self.shape}: it has {count} axes at least")

    # -- losses ------------------------------------------------------------------------------------

    def _check_target(self, name: str, target: Self, label_smoothing: float = 0.0) -> None:
        check_tensors(target)
        self._check_axes(name, 1)
        if not 0 <= label_smoothing <= 1:
            raise ValueError("label_smoothing must be in [0.0, 1.0]")

    def _reduced(self, reduction: str) -> Self:
        if reduction not in ("none", "mean", "sum"):
            raise ValueError(f"reduction is none, mean or sum, got {reduction!r}")
        return {"none": lambda: self, "mean": self.mean, "sum": self.sum}[reduction]()

    @rounded_once
    def binary_crossentropy(self, Y: Self, reduction: Reduce = "mean") -> Self:
        """The binary cross-entropy of probabilities."""
        check_tensors(Y)
        return (-Y * self.log() - (1 - Y) * (1 - self).log())._reduced(reduction)

    @rounded_once
    def binary_crossentropy_logits(
        self, Y: Self, reduction: Reduce = "mean", pos_weight: Self | None = None
    ) -> Self:
        """The binary cross-entropy of logits; `pos_weight` weights the positive class."""
        check_tensors(Y)
        positive, negative = self.logsigmoid(), (-self).logsigmoid()
        weight = 1 if pos_weight is None else pos_weight
        return -(weight * Y * positive + (1 - Y) * negative)._reduced(reduction)

    @rounded_once
    def sparse_categorical_crossentropy(
        self,
        Y: Self,
        ignore_index: int = -1,
        label_smoothing: float = 0.0,
        reduction: Reduce = "mean",
    ) -> Self:
        """The cross-entropy of logits, in the last axis, and class numbers."""
        self._check_target("sparse_categorical_crossentropy", Y, label_smoothing)
        self._check_classes("sparse_categorical_crossentropy", -1, Y, ignore_index)
        classes = self.shape[-1]
        log_probs = self.log_softmax()
        counts = Y.ne(ignore_index).cast(log_probs.dtype)
        hot = Y.unsqueeze(-1).eq(self.arange(classes))
        picked = hot.where(log_probs, 0).sum(-1)
        smooth = log_probs.mean(-1) * label_smoothing if label_smoothing else None
        total = picked * (1 - label_smoothing)
        total = (total if smooth is None else total + smooth) * counts
        if reduction == "mean":
            return -(total.sum() / counts.sum())
        return (-total)._reduced(reduction)

    @rounded_once
    def cross_entropy(
        self, Y: Self, reduction: Reduce = "mean", label_smoothing: float = 0.0
    ) -> Self:
        """The cross-entropy of logits, in axis 1 (axis 0 if there is one only), and class numbers
        or class probabilities."""
        self._check_target("cross_entropy", Y, label_smoothing)
        axis = 1 if self.ndim > 1 else 0
        classes = self.shape[axis]
        if Y.shape != self.shape:
            self._check_classes("cross_entropy", axis, Y)
        target = Y if Y.ndim == self.ndim else Y._classes_as_axis(axis, self)
        target = target.cast(self.dtype)
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        loss = -(self.log_softmax(axis) * target).sum(axis)
        return loss._reduced(reduction)

    def _check_classes(
        self, name: str, axis: int, classes: Self, ignored: int | None = None
    ) -> None:
        """Raise unless `classes` are integers of the shape of the logits without their class axis,
        and IndexError for one beyond that axis, where they are known and not `ignored`."""
        wanted = tuple(d for i, d in enumerate(self.shape) if i != axis % self.ndim)
        if classes.shape != wanted:
            raise ArgumentError(f"{name} of {self.shape} by {classes.shape}: classes are {wanted}")
        check_integers("classes", classes)
        known, count = classes.node.data, greatest(self.shape[axis])
        if isinstance(known, np.ndarray) and not is_tracing():
            wrong = known[((known < 0) | (known >= count)) & (known != ignored)]
            if wrong.size:
                exception = "" if ignored is None else f", and {ignored} is ignored"
                raise IndexError(
                    f"{name} by class {wrong[0]}: classes are 0 to {count - 1}{exception}"
                )

    def _classes_as_axis(self, axis: int, like: Self) -> Self:
        return self.unsqueeze(axis).eq(like._line(like.shape[axis], axis))

    @rounded_once
    def nll_loss(
        self,
        Y: Self,
        weight: Self | None = None,
        ignore_index: int | None = None,
        reduction: Reduce = "mean",
    ) -> Self:
        """The negative log-likelihood of log-probabilities, in axis 1 (axis 0 if there is one
        only), and class numbers; classes may have weights."""
        self._check_target("nll_loss", Y)
        axis = 1 if self.ndim > 1 else 0
        self._check_classes("nll_loss", axis, Y, ignore_index)
        if weight is not None and weight.shape != (self.shape[axis],):
            raise ValueError(f"nll_loss of {self.shape[axis]} classes by weights {weight.shape}")
        hot = Y._classes_as_axis(axis, self)
        weights = Y.full(Y.shape, 1, self.dtype) if weight is None else weight[Y]
        if ignore_index is not None:
            weights = Y.eq(ignore_index).where(0, weights)
        loss = -(hot.where(self, 0).sum(axis)) * weights
        if reduction != "mean":
            return loss._reduced(reduction)
        return loss.sum() / weights.sum()


class Attention(LinearAlgebra, Neural, Random):
    """Attention, whose weights may be dropped at random."""

    __slots__ = ()

    def scaled_dot_product_attention(
        self,
        key: Self,
        value: Self,
        attn_mask: Self | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        enable_gqa: bool = False,
    ) -> Self:
        """softmax(self @ key.T / sqrt(d) + mask) @ value."""
        check_tensors(key, value)
        for tensor in (self, key, value):
            tensor._check_axes("scaled_dot_product_attention", 3 if enable_gqa else 2)
        if enable_gqa:
            times = self.shape[-3] // key.shape[-3]
            key, value = (t.repeat_interleave(times, dim=-3) for t in (key, value))
        # Scores of narrow floats are f32, and weights are rounded once, as in PyTorch's fused form.
        wide = dtypes.float32 if self.dtype.is_float and self.dtype.bits < 32 else self.dtype
        scores = self.matmul(key.transpose(-2, -1), dtype=wide)
        size = self.shape[-1]
        if isinstance(size, SymInt):
            scores = scores * self._number(larger(size, 1), wide).sqrt().reciprocal()
        else:
            scores = scores * (1 / math.sqrt(size or 1))
        if is_causal:
            if attn_mask is not None:
                raise RuntimeError("attn_mask or is_causal, not both")
            rows, columns = scores.shape[-2:]
            attn_mask = self.arange(columns) <= self.arange(rows).reshape((rows, 1))
        if attn_mask is not None:
            if attn_mask.dtype.is_bool:
                scores = attn_mask.where(scores, -math.inf)
            else:
                scores = scores + attn_mask
        weights = scores.cast(wide).softmax(-1).dropout(dropout_p)
        return weights.cast(self.dtype).matmul(value)

    def dropout(self, p: float = 0.5, training: bool | None = None) -> Self:
        """Zero with probability p and scaled up otherwise, in training: by default within
        `Tensor.train`."""
        if not 0 <= p <= 1:
            raise ValueError(f"p={p} is out of range [0, 1]")
        if p == 0 or not (self.training if training is None else training):
            return self._apart_from(self)
        if p == 1:
            return self.zeros_like()
        keep = self.rand(self.shape) >= p
        return keep.where(self, 0) / (1 - p)
