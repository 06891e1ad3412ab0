"""Attention and dropout."""

from __future__ import annotations

import math
from typing import Self

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import check_tensors
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.neural import Neural
from tgdialect.frontend.random import Random
from tgdialect.frontend.symbolic import SymInt, larger


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
