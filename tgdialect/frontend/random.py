"""Random tensors from THREEFRY: the key is the seed, the counter the number of words used so far.

Each THREEFRY makes two words of 32 bits (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
3", 2011). A float in [0, 1) has the top bits of a word as its fraction.

For equal seeds all numbers, normal ones included, have the same bits as tinygrad's, if both or
neither use fused multiply-adds.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import ArgumentError, extents_of, number_in
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.graph import leaf
from tgdialect.frontend.realization import as_array
from tgdialect.frontend.sorting import Sorting
from tgdialect.frontend.state import State
from tgdialect.frontend.symbolic import SymInt, is_surely_less, to_dim, value_of
from tgdialect.frontend.tracing import is_tracing
from tgdialect.ops import tg

_PI = (
    *(-3.1414794921875, -0.00011315941810607910156),
    *(-1.9841872589410058936e-09, -1.2154201256553420762e-10),
)
"""-pi as the sum of four floats (Cody-Waite reduction)."""
_SIN = (
    *(1.0, -0.166666597127914428710938, 0.00833307858556509017944336),
    *(-0.0001981069071916863322258, 2.6083159809786593541503e-06),
)
"""Coefficients of sin x / x as a polynomial in x^2, the constant one first, with tinygrad's
bits."""
_LOG2 = (0.9618012905120, 0.5764790177345275879, 0.43745502829551696777)
"""Coefficients, the constant one first, of the polynomial in x^2 that, times x^3, log2 (1 + x) / (1
- x) has beside its linear term."""
_TWO_OVER_LN_2 = (2.8853900432586669922, 3.2734474483568488616e-08)
"""2 / ln 2 as the sum of two floats."""
_DEVICE_KEY = int.from_bytes(hashlib.sha256((0).to_bytes(4, "big")).digest(), "big") % 2**32


class Random(Sorting, State):
    """Class methods that make random tensors, and sampling from weights."""

    __slots__ = ()

    _state: Any = None
    """The seed and the number of words used so far: a tensor of u64 with shape (2,)."""

    @classmethod
    def manual_seed(cls, seed: int = 0) -> None:
        """Restart the random numbers from a seed."""
        node = leaf(np.array([seed % 2**32, 0], np.uint64), dtypes.uint64)
        if Random._state is None:
            Random._state = cls.of_node(node)
        else:
            Random._state._rebind(node)

    @classmethod
    def _next_counter(cls, words: int) -> tuple[Self, Self]:
        """The seed, and the counter of the next words of 32 bits, which are taken."""
        seed_once(cls)
        state = cast(Self, Random._state)
        seed, counter = state[0], state[1]
        if is_tracing():
            taken = counter + cls._number(words, dtypes.uint64)
            state._rebind(seed.stack(taken).node)
        else:
            used = as_array(state.node) + np.array([0, value_of(words)], np.uint64)
            state._rebind(leaf(used, dtypes.uint64))
        return seed, counter

    @classmethod
    def _words(cls, count: int, device: str | None) -> Self:
        """Random words of 32 bits."""
        seed, counter = cls._next_counter(count)
        first = counter.threefry((seed << 32) | _DEVICE_KEY)
        half = -(-count // 2)
        positions = cls.arange(half, device=device).cast(dtypes.uint64)
        pairs = (((positions + half) << 32) | positions).threefry(first)
        low, high = pairs & 0xFFFFFFFF, pairs >> 32
        return low.cat(high).cast(dtypes.uint32).shrink([(0, count)])

    def threefry(self, seed: Self) -> Self:
        """64 random bits for each counter, under a key."""
        return self._apply(tg.ThreefryOp, self.node, seed.node)

    @classmethod
    def rand(cls, *shape: Any, dtype: DTypeLike = None, device: str | None = None) -> Self:
        """Uniform in [0, 1)."""
        extents = extents_of(shape)
        if any(is_surely_less(to_dim(d), 0) for d in extents):
            raise ValueError(f"invalid input shape={extents}")
        wanted = dtypes.to_dtype(dtype, dtypes.default_float)
        if not wanted.is_float:
            raise ValueError(f"rand of {wanted.name}: only floats are random numbers in [0, 1)")
        count = math.prod(extents)
        if count == 0:
            return cls.full(extents, 0.0, wanted, device)
        words = cls._words(-(-count * wanted.itemsize // 4), device)
        kind = dtypes.NAMES[f"uint{wanted.bits}"]
        fraction = wanted.precision - 1
        one = int(np.array(1, dtypes.numpy_of(wanted)).view(f"u{wanted.itemsize}"))
        bits = words
        if kind != dtypes.uint32:  # Words are parts of a number, or have two.
            bits = words.reshape((-1, max(wanted.bits // 32, 1))).bitcast(kind).flatten()
        floats = ((bits >> (wanted.bits - fraction)) | one).bitcast(wanted)
        return (floats.shrink([(0, count)]) - 1).reshape(extents).contiguous()

    def rand_like(self, dtype: DTypeLike = None, device: str | None = None) -> Self:
        """Uniform in [0, 1), of this shape and dtype, on this device."""
        wanted = dtypes.to_dtype(dtype, self.dtype)
        return self._like(lambda at: self.rand(self.shape, dtype=wanted, device=at), device)

    def randn_like(self, dtype: DTypeLike = None, device: str | None = None) -> Self:
        """Normal with mean 0 and variance 1, of this shape and dtype, on this device: Box &
        Muller's transform."""
        wanted = dtypes.to_dtype(dtype, self.dtype)

        def make(where: str | None) -> Self:
            cosine, radius = self._polar(self.shape, where)
            return (cosine * radius).cast(wanted)

        return self._like(make, device)

    @classmethod
    def _polar(cls, shape: Sequence[int], device: str | None) -> tuple[Self, Self]:
        """The cosine of a random angle, and a random radius, whose product is normal
        (Box-Muller)."""
        pair = cls.rand((2, *shape), dtype=dtypes.float32, device=device)
        log = (1 - pair[1])._log2_of_unit()
        radius = (log * (-2 * float(np.float32(math.log(2))))).sqrt()
        return pair[0]._mulacc(-2 * math.pi, math.pi / 2)._sin_of_turn(), radius

    def _sin_of_turn(self) -> Self:
        """The sine of an angle in (-2 pi, 2 pi), with tinygrad's bits: subtract the nearest
        multiple of pi, then a polynomial of degree 9."""
        sign = self.ne(0).where((self < 0).where(-1.0, 1.0), 0.0)
        magnitude = self * sign
        half_turns = magnitude._mulacc(1 / math.pi, 0.5).cast(dtypes.int32)
        count = half_turns.cast(dtypes.float32)
        rest = count * _PI[2]
        for part in (_PI[3], _PI[1], _PI[0]):
            rest = count._mulacc(part, rest)
        rest = rest + magnitude
        sine = rest * (rest * rest)._polynomial(_SIN)
        return sine * half_turns.bitwise_and(1).ne(0).where(-1.0, 1.0) * sign

    def _log2_of_unit(self) -> Self:
        """The logarithm to base 2 of a number in (0, 1], with tinygrad's bits: the exponent, and a
        series in (m - 1) / (m + 1) for the significand m."""
        is_small = self < 1e-4
        scaled = is_small.where(self * 2.0**64, self)
        bits = (scaled * (1 / 0.75)).bitcast(dtypes.int32)
        exponent = ((bits >> 23) & 255) - 127
        significand = (scaled.bitcast(dtypes.int32) - (exponent << 23)).bitcast(dtypes.float32)
        x = (significand - 1) / (significand + 1)
        square = x * x
        exponent = exponent.cast(dtypes.float32)
        whole = is_small.where(exponent - 64, exponent)
        total = (square._polynomial(_LOG2) * x)._mulacc(square, whole)
        for part in _TWO_OVER_LN_2:
            total = x._mulacc(part, total)
        return total

    @classmethod
    def randn(cls, *shape: Any, dtype: DTypeLike = None, device: str | None = None) -> Self:
        """Normal with mean 0 and variance 1."""
        return cls.zeros(*shape, device=device).randn_like(dtype)

    @classmethod
    def normal(
        cls,
        *shape: Any,
        mean: float = 0.0,
        std: float = 1.0,
        dtype: DTypeLike = None,
        device: str | None = None,
    ) -> Self:
        """Normal with a mean and a standard deviation."""
        if std < 0:
            raise ValueError(f"Tensor.normal requires std >= 0, got std={std}")
        if dtype is not None and dtypes.to_dtype(dtype) != dtypes.float32:
            return cls.randn(*shape, dtype=dtype, device=device)._mulacc(std, mean)
        cosine, radius = cls._polar(extents_of(shape), device)
        return (cosine * std)._mulacc(radius, mean) if mean else cosine * std * radius

    @classmethod
    def uniform(
        cls,
        *shape: Any,
        low: float = 0.0,
        high: float = 1.0,
        dtype: DTypeLike = None,
        device: str | None = None,
    ) -> Self:
        """Uniform in [low, high)."""
        if low >= high:
            raise ValueError(f"Tensor.uniform requires low < high, got low={low}, high={high}")
        wanted = dtypes.to_dtype(dtype, dtypes.default_float)
        if wanted == dtypes.float32:
            return cls.rand(*shape, dtype=wanted, device=device)._mulacc(high - low, low)
        unit = cls.rand(*shape, dtype=dtypes.float32, device=device)
        return ((high - low) * unit).cast(wanted) + low

    @classmethod
    def randint(
        cls,
        *shape: Any,
        low: int = 0,
        high: int = 10,
        dtype: DTypeLike = "int32",
        device: str | None = None,
    ) -> Self:
        """Uniform integers in [low, high)."""
        if not all(isinstance(cast(object, bound), int) for bound in (low, high)):
            raise TypeError(f"low={low} and high={high} must be integers")
        if not dtypes.to_dtype(dtype).is_integer:
            raise TypeError(f"dtype={dtype} must be int")
        for number in (low, high - 1):
            number_in(dtypes.to_dtype(dtype), number)
        return cls.uniform(*shape, low=low, high=high, dtype=dtype, device=device)

    @classmethod
    def scaled_uniform(
        cls, *shape: Any, dtype: DTypeLike = None, device: str | None = None
    ) -> Self:
        """Uniform in [-1, 1), divided by the square root of the number of elements."""
        extents = extents_of(shape)
        scale = max(_number_of_inputs(extents, math.prod(extents)), 1) ** -0.5
        return cls.uniform(extents, low=-1.0, high=1.0, dtype=dtype, device=device) * scale

    @classmethod
    def glorot_uniform(
        cls, *shape: Any, dtype: DTypeLike = None, device: str | None = None
    ) -> Self:
        """Uniform, bounded by sqrt(6 / (in + out)) (Glorot & Bengio, 2010)."""
        extents = extents_of(shape)
        count = _number_of_inputs(extents, extents[0] + math.prod(extents[1:]))
        bound = (6 / max(count, 1)) ** 0.5
        return cls.uniform(extents, low=-bound, high=bound, dtype=dtype, device=device)

    @classmethod
    def kaiming_uniform(
        cls, *shape: Any, a: float = 0.01, dtype: DTypeLike = None, device: str | None = None
    ) -> Self:
        """Uniform, for leaky ReLUs of slope a (He et al., 2015)."""
        extents = extents_of(shape)
        count = _number_of_inputs(extents, math.prod(extents[1:]))
        bound = (6 / (1 + a**2) / max(count, 1)) ** 0.5
        return cls.uniform(extents, low=-bound, high=bound, dtype=dtype, device=device)

    @classmethod
    def kaiming_normal(
        cls, *shape: Any, a: float = 0.01, dtype: DTypeLike = None, device: str | None = None
    ) -> Self:
        """Normal, for leaky ReLUs of slope a (He et al., 2015)."""
        extents = extents_of(shape)
        count = _number_of_inputs(extents, math.prod(extents[1:]))
        std = (2 / (1 + a**2) / max(count, 1)) ** 0.5
        return cls.normal(extents, mean=0.0, std=std, dtype=dtype, device=device)

    @classmethod
    def randperm(cls, n: int, dtype: DTypeLike = "int32", device: str | None = None) -> Self:
        """0, ..., n - 1 in random order."""
        return cls.rand(n, dtype=dtypes.float32, device=device).argsort().cast(dtype)

    def multinomial(self, num_samples: int = 1, replacement: bool = False) -> Self:
        """Positions in the last axis, drawn with its values as weights. Without replacement by the
        keys of Efraimidis & Spirakis (2006). Raises ArgumentError for weights without axes or with
        more than two, and for numbers of samples that cannot be drawn."""
        if self.ndim not in (1, 2) or num_samples <= 0:
            raise ArgumentError(f"{num_samples} samples of weights of shape {self.shape}")
        weight = (self.unsqueeze(0) if self.ndim == 1 else self).cast(dtypes.float32)
        rows, columns = weight.shape
        if not replacement and is_surely_less(columns, num_samples):
            raise ArgumentError(f"{num_samples} samples of {columns} without replacement")
        if replacement or num_samples == 1:
            running = weight.cumsum(1)
            share = running / running[:, -1].unsqueeze(1)
            drawn = self.rand(num_samples, rows, 1, dtype=dtypes.float32)
            indices = (drawn >= share).sum(2).permute(1, 0)
        else:
            indices = (weight.rand_like().log2() / weight).topk(num_samples, dim=1)[1]
        return (indices.squeeze(0) if self.ndim == 1 else indices).cast(dtypes.int32)


def _number_of_inputs(shape: Sequence[int], count: int) -> int:
    """The number that bounds initial weights. Raises ValueError for a symbolic one."""
    if isinstance(count, SymInt):
        raise ValueError(f"initial weights of shape {shape}: their bound is a number, not {count}")
    return count


def seed_once(kind: type[Random]) -> None:
    """Seed the random numbers by the time, unless they have a seed. A loop, of which random numbers
    are a state, does so before its step is traced."""
    if Random._state is None:  # pyright: ignore[reportPrivateUsage]
        kind.manual_seed(int(time.time()))
