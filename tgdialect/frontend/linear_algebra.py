"""Products: dot, matmul, einsum."""

from __future__ import annotations

import string
from functools import reduce
from typing import Any, Self, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import (
    ArgumentError,
    DTypeError,
    check_tensors,
    operand_of,
    rounded_once,
)
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.reduction import AxisArgument, Reduction
from tgdialect.ops.numpy_dtypes import Array


class LinearAlgebra(Reduction):
    """Sums of products."""

    __slots__ = ()

    def _total(self, axis: AxisArgument, dtype: dtypes.DType) -> Self:
        """The sum of products, which is rounded once to a narrower float."""
        if self.dtype.is_float and dtype.is_float and dtype.bits < self.dtype.bits:
            return self.sum(axis).cast(dtype)
        return self.sum(axis, dtype=dtype)

    def dot(self, w: Self, dtype: DTypeLike = None) -> Self:
        """The product of vectors, of matrices, or of stacks of matrices that broadcast."""
        check_tensors(w)
        if not self.ndim or not w.ndim:
            raise RuntimeError(f"dot of {self.shape} and {w.shape}: both have an axis at least")
        k = w.shape[-2:][0]
        if self.shape[-1] != k:
            raise RuntimeError(f"dot of {self.shape} and {w.shape}: {self.shape[-1]} is not {k}")
        ones = [1] * min(self.ndim - 1, w.ndim - 1, 1)
        x = self.reshape((*self.shape[:-1], *ones, k))
        y = w.reshape((*w.shape[:-2], *ones, *w.shape[-2:])).transpose(-1, -2) if w.ndim > 1 else w
        wanted = dtypes.to_dtype(dtype, dtypes.promote(self.dtype, w.dtype))
        return x._product(y)._total(-1, wanted)

    def matmul(self, x: Self | Array, reverse: bool = False, dtype: DTypeLike = None) -> Self:
        """self @ x; x @ self if `reverse`."""
        y = cast(Self, operand_of(self, x))
        check_tensors(y)
        return y.dot(self, dtype) if reverse else self.dot(y, dtype)

    def __matmul__(self, x: Self | Array) -> Self:
        return self.matmul(x)

    def __rmatmul__(self, x: Array) -> Self:
        return self.matmul(x, True)

    def bmm(self, mat2: Self) -> Self:
        """The products of two stacks of matrices, (b, n, m) and (b, m, p). Raises ArgumentError for
        other shapes."""
        check_tensors(mat2)
        a, b = self.shape, mat2.shape
        if self.ndim != 3 or mat2.ndim != 3 or a[0] != b[0] or a[2] != b[1]:
            raise ArgumentError(f"bmm of {a} and {b}: they are (b, n, m) and (b, m, p)")
        return self.dot(mat2)

    def cdist(self, x2: Self, p: float = 2.0, compute_mode: str | None = None) -> Self:
        """The p-norm of the difference of each row of this tensor and each of another: (..., n, m)
        and (..., k, m) give (..., n, k).

        Args:
            p: not negative, may be infinite.
            compute_mode: without effect; PyTorch may compute Euclidean distances by products, which
                lose digits.
        """
        check_tensors(x2)
        if not (self.dtype.is_float and x2.dtype.is_float):
            raise DTypeError(f"cdist of {self.dtype.name} and {x2.dtype.name}: of floats only")
        if min(self.ndim, x2.ndim) < 2 or self.shape[-1] != x2.shape[-1] or not p >= 0:
            raise ArgumentError(
                f"cdist of {self.shape} and {x2.shape} with p {p}: they are (..., n, m) and "
                f"(..., k, m), and p is not negative"
            )
        return self._distances(x2, p)

    @rounded_once
    def _distances(self, x2: Self, p: float) -> Self:
        difference = self.unsqueeze(-2) - x2.unsqueeze(-3)
        # Of no features, all distances are 0.
        return difference._norm(2 if self.shape[-1] == 0 else p, -1, False)

    def outer(self, vec2: Self) -> Self:
        """The products of each element of a vector with each of another."""
        check_tensors(vec2)
        if self.ndim != 1 or vec2.ndim != 1:
            raise ValueError(f"outer of {self.shape} and {vec2.shape}: both have one axis")
        return self.unsqueeze(-1) * vec2

    def linear(self, weight: Self, bias: Self | None = None, dtype: DTypeLike = None) -> Self:
        """self @ weight + bias; of a weight with one axis, self * weight + bias. With a dtype, all
        are of it, and so is the result."""
        check_tensors(weight)
        if dtype is not None:
            cast_bias = None if bias is None else bias.cast(dtype)
            return self.cast(dtype).linear(weight.cast(dtype), cast_bias)
        result = self * weight if weight.ndim == 1 else self.dot(weight)
        return result if bias is None else result + bias

    @classmethod
    def einsum(cls, formula: str, *operands: Any, dtype: DTypeLike = None) -> Self:
        """Sums of products in Einstein's notation: `ij,jk->ik`."""
        # Check the formula against the operands.
        tensors: list[Self] = []
        for operand in operands:
            tensors += operand if isinstance(operand, list | tuple) else [operand]
        check_tensors(*tensors)
        if not isinstance(cast(object, formula), str):
            raise TypeError(f"a formula is a str, not {type(formula).__name__}")
        inputs, arrow, output = formula.replace(" ", "").partition("->")
        terms = inputs.split(",")
        if any(part.count("...") > 1 for part in (*terms, output)):
            raise ArgumentError(f"{formula}: a term has one ellipsis at most")
        if strange := set(inputs.replace("...", "")) - {*string.ascii_letters, ","}:
            raise ArgumentError(f"{formula}: {min(strange)!r} is no letter")
        if len(terms) != len(tensors):
            raise ArgumentError(f"{formula}: {len(terms)} terms for {len(tensors)} tensors")
        # Replace each ellipsis by letters that the formula does not use.
        free = [c for c in string.ascii_letters if c not in formula]
        named = (len(term.replace("...", "")) for term in terms)
        rest = [t.ndim - n for t, n in zip(tensors, named, strict=True)]
        most = max((n for term, n in zip(terms, rest, strict=True) if "..." in term), default=0)
        dots = "".join(free[:most])
        for i, (term, t) in enumerate(zip(terms, tensors, strict=True)):
            terms[i] = term.replace("...", dots[most - rest[i] :])
            if len(terms[i]) != t.ndim:
                raise ArgumentError(f"{formula}: {term} for a tensor with {t.ndim} axes")
        # The letters of the result: without `->`, those that occur once, in order.
        letters = "".join(terms)
        if arrow:
            output = output.replace("...", dots)
        else:
            once = sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots)
            output = dots + "".join(once)
        if len(set(output)) < len(output) or not set(output) <= set(letters):
            raise ArgumentError(f"{formula}: the result names {output}")
        # Multiply the operands, each with its axes in the order of all letters.
        order = output + "".join(sorted(set(letters) - set(output)))
        lined: list[Self] = []
        extents: dict[str, int] = {}
        for term, t in zip(terms, tensors, strict=True):
            for letter in sorted(set(term)):
                while term.count(letter) > 1:
                    a = term.index(letter)
                    b = term.index(letter, a + 1)
                    if t.shape[a] != t.shape[b]:
                        raise ArgumentError(f"{formula}: {letter} is {t.shape[a]} and {t.shape[b]}")
                    t = t.diagonal(0, a, b)
                    term = "".join(c for i, c in enumerate(term) if i not in (a, b)) + letter
            for letter, extent in zip(term, t.shape, strict=True):
                if 1 not in (extent, known := extents.get(letter, extent)) and known != extent:
                    raise ArgumentError(f"{formula}: {letter} is {known} and {extent}")
                extents[letter] = max(extents.get(letter, extent), extent)
            arranged = t.permute([term.index(c) for c in order if c in term])
            shape = [t.shape[term.index(c)] if c in term else 1 for c in order]
            lined.append(arranged.reshape(shape))
        product = reduce(cls._product, lined)
        # Sum over the letters that the result does not have.
        summed = list(range(len(output), len(order)))
        wanted = dtypes.to_dtype(dtype, reduce(dtypes.promote, (t.dtype for t in tensors)))
        return product._total(summed, wanted) if summed else product.cast(wanted)
