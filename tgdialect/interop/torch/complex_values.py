"""Complex values in programs, which have no complex dtype: a real and an imaginary part.

PyTorch's complex tensors go in and out as `view_as_real` shows them, without copies: real tensors
whose last axis has both parts. A line of `ops/complex_numbers.py` gets `Complex` in their place.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Translate

PARTS: Mapping[torch.dtype, torch.dtype] = {
    torch.complex32: torch.float16,
    torch.complex64: torch.float32,
    torch.complex128: torch.float64,
}
"""The dtypes of the parts of complex numbers."""


def part_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the parts of numbers; that of the numbers if they are real."""
    return PARTS.get(dtype, dtype)


def as_real(value: torch.Tensor) -> torch.Tensor:
    """A tensor of PyTorch as a real one: a complex one with its parts in a new last axis, which is
    a copy where PyTorch conjugates the elements in memory when they are read."""
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


@dataclass(frozen=True)
class Complex:
    """Complex numbers. Both parts have one shape and dtype. Operators take numbers, too."""

    real: Tensor
    imag: Tensor

    @staticmethod
    def of(value: Any) -> Complex:
        """A value as complex ones: a tensor, or a number of Python, which is f64."""
        if isinstance(value, Complex):
            return value
        if isinstance(value, Tensor):
            return Complex(value, value.zeros_like())
        number = complex(value)
        return Complex(Tensor(number.real, "float64"), Tensor(number.imag, "float64"))

    @staticmethod
    def of_pairs(pairs: Tensor) -> Complex:
        """Those whose parts are along the last axis."""
        return Complex(pairs[..., 0], pairs[..., 1])

    def pairs(self) -> Tensor:
        """Their parts along a new last axis."""
        return Tensor.stack([self.real, self.imag], -1)

    @property
    def shape(self) -> Any:
        return self.real.shape

    @property
    def ndim(self) -> int:
        return self.real.ndim

    def numel(self) -> Any:
        return self.real.numel()

    def cast(self, dtype: Any) -> Complex:
        """With parts of a dtype."""
        return Complex(self.real.cast(dtype), self.imag.cast(dtype))

    def conjugate(self) -> Complex:
        return Complex(self.real, -self.imag)

    def __neg__(self) -> Complex:
        return Complex(-self.real, -self.imag)

    def _other(self, value: Any) -> Complex:
        other = Complex.of(value)
        return other if isinstance(value, Complex | Tensor) else other.cast(self.real.dtype)

    def __add__(self, value: Any) -> Complex:
        other = self._other(value)
        return Complex(self.real + other.real, self.imag + other.imag)

    def __sub__(self, value: Any) -> Complex:
        return self + -self._other(value)

    def __mul__(self, value: Any) -> Complex:
        return bilinear(lambda x, y: x * y)(self, self._other(value))

    def __truediv__(self, value: Any) -> Complex:
        """By Smith's method: the divisor is scaled by its greater part, so no square overflows."""
        other = self._other(value)
        is_real = other.real.abs() >= other.imag.abs()
        great, small = is_real.where(other.real, other.imag), is_real.where(other.imag, other.real)
        ratio = (great == 0).where(0, small / great)
        scale = (great + small * ratio).reciprocal()
        # (a + b i) / (c + d i); where |c| < |d|, the conjugate of (b + a i) / (d + c i).
        a, b = is_real.where(self.real, self.imag), is_real.where(self.imag, self.real)
        imaginary = (b - a * ratio) * scale
        return Complex((a + b * ratio) * scale, is_real.where(imaginary, -imaginary))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, value: Any) -> Complex:
        return self._other(value) - self

    def __rtruediv__(self, value: Any) -> Complex:
        return self._other(value) / self

    def reciprocal(self) -> Complex:
        return 1 / self

    def exp(self) -> Complex:
        """e to the power of each."""
        return polar(self.real.exp(), self.imag)

    def __eq__(self, value: Any) -> Any:
        other = self._other(value)
        return (self.real == other.real) & (self.imag == other.imag)

    def __ne__(self, value: Any) -> Any:
        return (self == value).logical_not()


def polar(magnitude: Tensor, angle: Tensor) -> Complex:
    """The numbers of a magnitude and an angle."""
    return Complex(magnitude * angle.cos(), magnitude * angle.sin())


def bilinear(translate: Translate) -> Translate:
    """A product of complex values, from that of real ones."""

    def product(x: Any, y: Any) -> Complex:
        x, y = Complex.of(x), Complex.of(y)
        return Complex(
            translate(x.real, y.real) - translate(x.imag, y.imag),
            translate(x.real, y.imag) + translate(x.imag, y.real),
        )

    return product


def by_parts(translate: Translate) -> Translate:
    """A function of complex values that is one of their real parts, and the same one of their
    imaginary parts: movements and sums."""

    def of_both(*args: Any, **named: Any) -> Any:
        of_one: Callable[[str], Any] = lambda name: translate(  # noqa: E731
            *_part(args, name), **_part(named, name)
        )
        real, imaginary = of_one("real"), of_one("imag")
        if isinstance(real, Tensor):
            return Complex(real, imaginary)
        return [Complex(a, b) for a, b in zip(real, imaginary, strict=True)]

    return of_both


def _part(value: Any, name: str) -> Any:
    """Nested arguments with the parts of a name in the place of complex values."""
    if isinstance(value, Complex):
        return getattr(value, name)
    if isinstance(value, list | tuple):
        return type(value)(_part(each, name) for each in cast("Sequence[Any]", value))
    if isinstance(value, dict):
        return {key: _part(each, name) for key, each in cast("dict[str, Any]", value).items()}
    return value
