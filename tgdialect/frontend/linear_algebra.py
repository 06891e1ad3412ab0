"""Products: dot, matmul, einsum; decompositions of matrices, and norms, of which one is by singular
values.

The steps of an iteration are calls of a function that is compiled once. They work on detached
matrices: gradients are those of the first-order change of the result, which needs no iteration.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Literal, Self, TypeVar, cast

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import ArgumentError, DTypeError, check_tensors, operand_of
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.precision import rounded_once, widened
from tgdialect.frontend.reduction import AxisArgument, Reduction
from tgdialect.frontend.sorting import Sorting
from tgdialect.frontend.symbolic import SymInt
from tgdialect.frontend.traced import iterated
from tgdialect.ops.numpy_dtypes import Array

_EPSILON = {dtypes.float32: 2.0**-23, dtypes.float64: 2.0**-52}
"""The relative error of numbers, below which singular values are taken to be equal."""

T = TypeVar("T", bound="Decompositions")


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


class Decompositions(LinearAlgebra, Sorting):
    """Methods of matrices, in the last two axes; other axes are a batch."""

    __slots__ = ()

    def _matrix(self, name: str, *, is_static: bool = False) -> tuple[int, int]:
        """The extents of the last two axes of a float tensor. Raises ValueError if these are
        symbolic, and have to be static."""
        if self.ndim < 2:
            raise ValueError(f"{name} of a tensor with {self.ndim} axes: it has two at least")
        if not self.dtype.is_float:
            raise TypeError(f"{name} of {self.dtype.name}: a float is needed")
        if is_static and any(isinstance(extent, SymInt) for extent in self.shape[-2:]):
            raise ValueError(
                f"{name} of shape {self.shape}: the last two axes decide its number of steps, so "
                f"they are not symbolic"
            )
        return self.shape[-2], self.shape[-1]

    def norm(
        self,
        p: float | Literal["fro", "nuc"] = "fro",
        dim: AxisArgument = None,
        keepdim: bool = False,
        dtype: DTypeLike = None,
    ) -> Self:
        """The p-norm of vectors, or a norm of matrices.

        Args:
            p: a number, inf and -inf included; "fro" is 2; "nuc" is the sum of singular values.
            dim: the axes of a vector, by default all; two axes for "nuc", by default the only two.
            dtype: a float dtype to convert to before.

        Raises ValueError for another p, or other axes than "nuc" has.
        """
        x = (self if dtype is None else self.cast(dtype))._float()
        if p == "nuc":
            return x._nuclear_norm(dim, keepdim)
        if isinstance(p, str) and p != "fro":
            raise ValueError(f"p is a number, fro or nuc, got {p!r}")
        return x._norm(2 if isinstance(p, str) else p, dim, keepdim)

    @rounded_once
    def _nuclear_norm(self, dim: AxisArgument, keepdim: bool) -> Self:
        axes = self._axes(dim)
        if len(axes) != 2:
            raise ValueError(f"the nuclear norm of axes {axes} of {self.shape}: it takes two")
        total = self.movedim(axes, (-2, -1)).svd(full_matrices=False)[1].sum(-1)
        for axis in sorted(axes) if keepdim else ():
            total = total.unsqueeze(axis)
        return total

    def newton_schulz(self, steps: int, params: Sequence[float], eps: float = 1e-07) -> Self:
        """Singular values driven towards 1: each step is the odd polynomial p0 X + p1 (X Xᵀ) X +
        p2 (X Xᵀ)² X ... of the matrix, which is first divided by its Frobenius norm plus eps."""
        rows, columns = self._matrix("newton_schulz")
        if rows > columns:
            return self.transpose(-2, -1).newton_schulz(steps, params, eps).transpose(-2, -1)
        x = self / (self._norm(2, (-2, -1), True) + eps)
        for _ in range(steps):
            square = x.matmul(x.transpose(-2, -1))
            term, total = x, params[0] * x
            for factor in params[1:]:
                term = square.matmul(term)
                total = total + factor * term
            x = total
        return x

    @widened
    def inverse(self) -> Self:
        """The inverse of square matrices, by elimination with pivots; infinities or NaN where there
        is none."""
        n = self._square("inverse")
        one = self.eye(n, dtype=self.dtype)._broadcast_to((*self.shape[:-2], n, n))
        both = self.detach().cat(one, dim=-1)._eliminated(n)
        pivots = both._part(-1, 0, n).diagonal(0, -2, -1).unsqueeze(-1)
        inverse = (both._part(-1, n, 2 * n) / pivots).detach().contiguous()
        return inverse - inverse.matmul(_change(self)).matmul(inverse)

    @widened
    def det(self) -> Self:
        """The determinants of square matrices, by elimination with pivots."""
        return self._eliminated(self._square("det")).diagonal(0, -2, -1).prod(-1)

    def _square(self, name: str) -> int:
        """The number of rows of square matrices. Raises ValueError for others."""
        rows, columns = self._matrix(name, is_static=True)
        if rows != columns:
            raise ArgumentError(f"{name} of shape {self.shape}: a matrix is square")
        return rows

    def _eliminated(self, n: int) -> Self:
        """Rows added to others so that the first n columns have zeros beside the diagonal. The
        determinant stays: of two rows that change places, one changes its sign."""
        x = self
        for i in range(n):
            x = x._column_eliminated(self._of_array(np.array(i)))
        return x

    @iterated
    def _column_eliminated(self, i: Self) -> Self:
        """One step: column i, by the row from i on with the greatest cell in it, which becomes row
        i."""
        places = self.arange(self.shape[-2]).reshape((-1, 1))
        column = self.detach()[..., i].unsqueeze(-1)
        at = (places >= i).where(column.abs(), -1).argmax(-2, keepdim=True)
        old = self[..., i, :].unsqueeze(-2)
        pivot_row = self.gather(-2, at.expand((*self.shape[:-2], 1, self.shape[-1])))
        x = places.eq(i).where(pivot_row, places.eq(at).where(-old, self))
        factors = places.eq(i).where(0, x[..., i].unsqueeze(-1))
        pivot = pivot_row[..., i].unsqueeze(-1)
        return x - factors * (pivot_row / pivot.eq(0).where(1, pivot))

    @rounded_once
    def qr(self, mode: Literal["complete", "reduced"] = "complete") -> tuple[Self, Self]:
        """Q and R with Q @ R = self, Q orthogonal and R upper triangular, by Householder's
        reflections. Signs are LAPACK's.

        Args:
            mode: whether Q of (m, n) is (m, m), or (m, min(m, n)) as in PyTorch.
        """
        rows, columns = self._matrix("qr", is_static=True)
        if mode not in ("complete", "reduced"):
            raise ValueError(f"mode is complete or reduced, got {mode!r}")
        count = min(rows, columns)
        q, r = self.detach()._householder(rows if mode == "complete" else count)
        return self._qr_near(q, r)

    def _householder(self, width: int) -> tuple[Self, Self]:
        """The first columns of Q, and R."""
        *lead, rows, columns = self.shape
        r, reflections = self, list[Self]()
        for i in range(min(columns, rows - 1)):
            reflections.append(r._reflection(self._of_array(np.array(i))))
            r = r._reflected(reflections[-1])
        q = self.eye(rows, width, dtype=self.dtype)._broadcast_to((*lead, rows, width))
        for reflection in reversed(reflections):
            q = q._reflected(reflection)
        r = r._part(-2, 0, width).triu()
        return q.detach().contiguous(), r.detach().contiguous()

    @iterated
    def _reflection(self, i: Self) -> Self:
        """The vector v for which x - v vᵀ x has zeros in column i below row i; 0 if it has them.
        Its norm is sqrt(2) or 0."""
        column = self[..., i].unsqueeze(-1)
        places = self.arange(self.shape[-2]).reshape((-1, 1))
        below = (places > i).where(column, 0)
        head = places.eq(i).where(column, 0).sum(-2, keepdim=True)
        rest = (below * below).sum(-2, keepdim=True)
        is_done = rest.eq(0)
        norm = is_done.where(1, head * head + rest).sqrt()
        first = head + (head < 0).where(-norm, norm)
        scale = is_done.where(0, (2 / is_done.where(1, first * first + rest)).sqrt())
        return places.eq(i).where(first, below) * scale

    @iterated
    def _reflected(self, v: Self) -> Self:
        """self - v vᵀ self, for a column v of norm sqrt(2), or 0."""
        return self - v * (v * self).sum(-2, keepdim=True)

    def _qr_near(self, q: Self, r: Self) -> tuple[Self, Self]:
        """Q and R of this tensor, which are known but for their gradient: that of their first-order
        change with the matrix."""
        columns = min(self.shape[-2:])
        q1, square = q._part(-1, 0, columns), r._part(-2, 0, columns)._part(-1, 0, columns)
        change = _change(self)
        inner = q1.transpose(-2, -1).matmul(change)
        # d(A) R⁻¹ = (turn + d(R) R⁻¹ seen from Q's space), whose second part is upper triangular.
        inverse = square._inverse_of_triangle()
        quotient = change._part(-1, 0, columns).matmul(inverse)
        seen = q1.transpose(-2, -1).matmul(quotient)
        below = seen.tril(-1)
        turn = below - below.transpose(-2, -1)
        outside = quotient - q1.matmul(seen)
        new = q1 + q1.matmul(turn) + outside
        if q.shape[-1] > columns:
            rest = q._part(-1, columns, q.shape[-1])
            new = new.cat(rest - q1.matmul(outside.transpose(-2, -1).matmul(rest)), dim=-1)
        moved = (inner - turn.matmul(r._part(-2, 0, columns))).triu()
        return new, r + moved._placed([0] * r.ndim, r.shape, 0)

    @widened
    def _inverse_of_triangle(self) -> Self:
        """The inverse of upper triangular matrices, with 0 for the inverse of a 0 on the
        diagonal."""
        n = self.shape[-1]
        diagonal = self.diagonal(0, -2, -1).unsqueeze(-1)
        is_zero = diagonal.eq(0)
        inverse = is_zero.where(0, 1 / is_zero.where(1, diagonal))
        # (1 - N)⁻¹ = (1 + N) (1 + N²) (1 + N⁴) ..., which ends since N is nilpotent.
        power = -(inverse * self).triu(1)
        total = one = self.eye(n, dtype=self.dtype)
        for _ in range((n - 1).bit_length()):
            total = total.matmul(one + power)
            power = power.matmul(power).contiguous()
        return total * inverse.transpose(-2, -1)

    @rounded_once
    def svd(self, full_matrices: bool = True) -> tuple[Self, Self, Self]:
        """U, S and Vᵀ with U @ diag(S) @ Vᵀ = self: U and V are orthogonal, S is not negative and
        descends. By one-sided Jacobi rotations.

        Args:
            full_matrices: whether U of (m, n) is (m, m) and Vᵀ is (n, n), or both have min(m, n)
                columns and rows.

        Gradients are those of unique decompositions: where singular values are equal, they are 0
        for the rotations within their space.
        """
        rows, columns = self._matrix("svd", is_static=True)
        if rows < columns:
            v, s, u = self.transpose(-2, -1).svd(full_matrices)
            return u.transpose(-2, -1), s, v.transpose(-2, -1)
        u, s, v = self.detach()._jacobi()
        q = u.qr("complete" if full_matrices else "reduced")[0]
        # Columns of Q are those of U up to their sign; where a singular value is 0, U has none.
        sign = (q._part(-1, 0, columns) * u).sum(-2, keepdim=True) < 0
        sign = sign.where(-1.0, 1.0).cast(self.dtype)
        sign = sign._padded([(0, q.shape[-1] - columns)], 1)
        u, s, v = self._svd_near((q * sign).contiguous(), v.contiguous(), s.contiguous())
        return u, s, v.transpose(-2, -1)

    def _jacobi(self, repeat: Callable[..., Self] | None = None) -> tuple[Self, Self, Self]:
        """U, S and V of a matrix with at least as many rows as columns, by one-sided Jacobi
        rotations (Hestenes, 1958): pairs of columns are rotated until all are orthogonal. Columns
        of U are 0 where S is 0 but for rounding.

        Args:
            repeat: a loop, from a function of a tensor, its first argument, and how often it is
                applied to what it returned; by default as many calls.
        """
        *lead, rows, columns = self.shape
        half = (columns + 1) // 2
        scale = self.abs().max((-2, -1), keepdim=True)
        x = self._wide() / scale.eq(0).where(1, scale)
        x = x._padded([(0, 2 * half - columns)], 0)
        v = x.eye(2 * half, dtype=x.dtype)._broadcast_to((*lead, 2 * half, 2 * half))
        # Rotations of the columns of X are accumulated in the rows below it.
        both = x.cat(v, dim=-2)
        order = self._of_array(np.array(_pairing(half), np.int32))
        # After so many sweeps over all pairs of columns they are orthogonal in f64.
        sweeps = 1 if columns <= 2 else 4 + columns.bit_length()
        rounds = sweeps * (2 * half - 1)

        def step(x: T) -> T:
            return x._rotated(order)

        both = (repeat or _called)(step, both, rounds).detach()
        # After whole sweeps each column is in its place again, and the added one is the last.
        x, v = both._part(-1, 0, columns).split((rows, 2 * half), -2)
        v = v._part(-2, 0, columns)
        s, order = (x * x).sum(-2).sqrt().sort(-1, descending=True)
        s = s.contiguous()
        x, v = (t.gather(-1, order.unsqueeze(-2).expand(t.shape)) for t in (x, v))
        is_zero = s <= s._part(-1, 0, 1) * (rows * _EPSILON[self.dtype])
        u = is_zero.unsqueeze(-2).where(0, x / is_zero.where(1, s).unsqueeze(-2))
        return u.cast(self.dtype), (s * scale.squeeze(-1)).cast(self.dtype), v.cast(self.dtype)

    @iterated
    def _rotated(self, order: Self) -> Self:
        """One round: column k of the left half and of the right half are rotated, so that they are
        orthogonal but for the square of rotations at their end, and all columns are moved to their
        next partners."""
        rows, half = self.shape[-2] - self.shape[-1], self.shape[-1] // 2
        left, right = self._part(-2, 0, rows).split(half, -1)
        alpha, beta, gamma = (
            (a * b).sum(-2) for a, b in ((left, left), (right, right), (left, right))
        )
        is_done = gamma.abs() <= (alpha * beta).sqrt() * 2**-53
        zeta = (beta - alpha) / (2 * is_done.where(1, gamma))
        t = (zeta < 0).where(-1.0, 1.0) / (zeta.abs() + (1 + zeta * zeta).sqrt())
        t = is_done.where(0.0, t)
        cosine = 1 / (1 + t * t).sqrt()
        factors = cosine.cat(cosine * t, dim=-1).unsqueeze(-2).contiguous()
        partner, pair = (order + half) % (2 * half), order % half
        sign = (order < half).where(-1.0, 1.0).cast(self.dtype)
        own = factors[..., pair] * self[..., order]
        return own + sign * factors[..., pair + half] * self[..., partner]

    def _svd_near(self, u: Self, v: Self, s: Self) -> tuple[Self, Self, Self]:
        """The singular value decomposition of this tensor, which is known but for its gradient: the
        gradient of the first-order change of U, S and V with the matrix (Wedin, 1972)."""
        columns = s.shape[-1]
        u1 = u._part(-1, 0, columns)
        wide = s.unsqueeze(-1)
        image = self.matmul(v)
        inner = _change(u1.transpose(-2, -1).matmul(image))
        # The turn of U within its space is F * (E S + S Eᵀ), of V is F * (S E + Eᵀ S).
        gap = wide.transpose(-2, -1) ** 2 - wide**2
        is_equal = gap.abs() <= _EPSILON[self.dtype] * columns * (wide * wide).max(-2, keepdim=True)
        weight = is_equal.where(0, 1 / is_equal.where(1, gap))
        right, down = inner * wide.transpose(-2, -1), wide * inner
        turn_u = weight * (right + right.transpose(-2, -1))
        turn_v = weight * (down + down.transpose(-2, -1))
        # U also turns out of its space, where there are more rows than columns.
        is_zero = s <= s.max(-1, keepdim=True) * _EPSILON[self.dtype] * self.shape[-2]
        inverse = is_zero.where(0, 1 / is_zero.where(1, s)).unsqueeze(-2)
        outside = _change(image - u1.matmul(u1.transpose(-2, -1).matmul(image))) * inverse
        new = u1 + u1.matmul(turn_u) + outside
        if u.shape[-1] > columns:
            rest = u._part(-1, columns, u.shape[-1])
            new = new.cat(rest - u1.matmul(outside.transpose(-2, -1).matmul(rest)), dim=-1)
        return new, s + inner.diagonal(0, -2, -1), v + v.matmul(turn_v)


def _called(function: Callable[[T], T], x: T, times: int) -> T:
    """A function applied to what it returned, as often as is said."""
    for _ in range(times):
        x = function(x)
    return x


def _change(x: T) -> T:
    """0 with the gradient of a tensor."""
    return x - x.detach()


def _pairing(half: int) -> list[int]:
    """Where each column of the next round comes from: one stays and the others go round, as players
    of a tournament. After 2 * half - 1 rounds each column has met every other one."""
    if half == 1:
        return [0, 1]
    return [0, half, *range(1, half - 1), *range(half + 1, 2 * half), half - 1]
