"""ATen ops that factorise matrices and solve equations, in the last two axes; others are a batch.

A factorisation is a `scan` over the columns: a step updates the whole matrix by masks, so that a
program has one step however large the matrix is. Conventions are LAPACK's: pivots are numbers from
1 on, reflections are I - tau v vᵀ with the first cell of v, a 1, left out, and `info` is 0, or the
number of the first pivot that ends the factorisation. Computed in the dtype of the matrix.

Sources: Golub and Van Loan, Matrix Computations, chapters 3 to 5; the LAPACK Users' Guide.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tgdialect.frontend.loops import scan, while_loop
from tgdialect.frontend.symbolic import SymInt, smaller
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.dtypes import THEIRS
from tgdialect.interop.torch.rules import Refusal, Table, in_own_dtype
from tgdialect.ops.properties import broadcast_shapes

aten = torch.ops.aten


def _t(x: Tensor) -> Tensor:
    return x.transpose(-2, -1)


def _rows(x: Tensor) -> Tensor:
    """The numbers of the rows, as a column."""
    return Tensor.arange(x.shape[-2]).unsqueeze(-1)


def _columns(x: Tensor) -> Tensor:
    """The numbers of the columns."""
    return Tensor.arange(x.shape[-1])


def _column(x: Tensor, i: Tensor) -> Tensor:
    """Column i, (..., m, 1)."""
    return x[..., i].unsqueeze(-1)


def _row(x: Tensor, i: Tensor) -> Tensor:
    """Row i, (..., 1, n)."""
    return x[..., i, :].unsqueeze(-2)


def _cell(x: Tensor, i: Tensor) -> Tensor:
    """Cell i of vectors, (..., 1, 1)."""
    return x[..., i].unsqueeze(-1).unsqueeze(-1)


def _batch_last(steps: Tensor) -> Tensor:
    """The outputs of the steps of a loop, with the steps as the last axis."""
    return steps.movedim(0, -1)


def _first(flags: Tensor) -> Tensor:
    """The number, from 1 on, of the first flag that is set in each row; 0 if none is."""
    if flags.shape[-1] == 0:
        return Tensor.zeros(flags.shape[:-1], dtype="int32")
    return flags.any(-1).where(flags.cast("int32").argmax(-1) + 1, 0).cast("int32")


def _identity(x: Tensor, n: Any) -> Tensor:
    """Identity matrices of n rows, of the dtype and the batch of a tensor."""
    return Tensor.eye(n, dtype=x.dtype).expand((*x.shape[:-2], n, n))


def _broadcast(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Two stacks of matrices with the same batch."""
    lead = broadcast_shapes([a.shape[:-2], b.shape[:-2]])
    return a.expand((*lead, *a.shape[-2:])), b.expand((*lead, *b.shape[-2:]))


# -- LU --------------------------------------------------------------------------------------------


def _lu(a: Tensor, *, pivot: bool = True, check_errors: bool = False) -> tuple[Tensor, ...]:
    """L below the diagonal and U on and above it, (..., m, n); pivots, (..., k); info, (...).

    Gaussian elimination with the greatest cell of each column as its pivot. Without pivots,
    PyTorch's own op on the CPU raises an error.
    """
    _not_checked(check_errors)
    if not pivot:
        raise Refusal("LU without pivots is not for the CPU")
    *lead, m, n = a.shape
    if m == 0 or n == 0:
        none = Tensor.zeros((*lead, 0), dtype="int32")
        return a, none, _first(none)
    rows, columns = _rows(a), _columns(a)

    def step(x: Tensor, i: Tensor) -> tuple[Tensor, Tensor]:
        candidates = (rows >= i).where(_column(x, i).abs(), -1)
        at = candidates.argmax(-2, keepdim=True)
        pivot_row = x.gather(-2, at.expand((*lead, 1, n)))
        x = rows.eq(i).where(pivot_row, rows.eq(at).where(_row(x, i), x))
        head = _column(pivot_row, i)
        factors = _column(x, i) / head.eq(0).where(1, head)
        is_below = rows > i
        rest = (is_below & (columns > i)).where(x - factors * pivot_row, x)
        return (is_below & columns.eq(i)).where(factors, rest), at.reshape(lead)

    steps = Tensor.arange(smaller(m, n))
    lu, pivots = scan(step, a, steps)
    return lu, (_batch_last(pivots) + 1).cast("int32"), _first(lu.diagonal(0, -2, -1).eq(0))


def _order(pivots: Tensor, m: Any) -> Tensor:
    """The rows of a matrix of m rows in the order that pivots, (..., k), give them: (..., m)."""
    *lead, k = pivots.shape
    places = Tensor.arange(m)
    first = places.expand((*lead, m))
    if k == 0:
        return first

    def step(order: Tensor, given: tuple[Tensor, Tensor]) -> tuple[Tensor, None]:
        i, pivot = given
        is_there = places.eq(pivot.unsqueeze(-1))
        there = is_there.where(order, 0).sum(-1, keepdim=True)
        swapped = is_there.where(order[..., i].unsqueeze(-1), order)
        return places.eq(i).where(there, swapped), None

    at = pivots.cast(first.dtype).movedim(-1, 0) - 1
    return scan(step, first, (Tensor.arange(k).cast(first.dtype), at))[0]


def _inverse_order(order: Tensor) -> Tensor:
    """Where each row is in an order."""
    return _is_at(order).cast(order.dtype).argmax(-2).cast(order.dtype)


def _is_at(order: Tensor) -> Tensor:
    """Whether row j is the i-th of an order, (..., i, j)."""
    return order.unsqueeze(-1).eq(Tensor.arange(order.shape[-1]))


def _in_order(x: Tensor, order: Tensor) -> Tensor:
    """A matrix with its rows in an order."""
    return x.gather(-2, order.unsqueeze(-1).expand(x.shape))


def _lu_unpack(
    lu: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """P (..., m, m), L (..., m, k) and U (..., k, n), with A = P L U; what is not wanted has no
    cells."""
    m, n = lu.shape[-2:]
    k = smaller(m, n)
    none = Tensor.zeros((0,), dtype=lu.dtype)
    p, lower, upper = none, none, none
    if unpack_pivots:
        p = _t(_is_at(_order(pivots, m))).cast(lu.dtype)
    if unpack_data:
        left = lu[..., :k]
        lower = _rows(left).eq(_columns(left)).where(1, left.tril(-1))
        upper = lu[..., :k, :].triu()
    return p, lower, upper


def _lu_of(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    lu, pivots, _ = _lu(a, pivot=pivot)
    return _lu_unpack(lu, pivots)


def _lu_solve(
    lu: Tensor, pivots: Tensor, b: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """X with A X = B for A = P L U; Aᵀ X = B if `adjoint`; X A = B if not `left`."""
    if not left:
        return _t(_lu_solve(lu, pivots, _t(b), adjoint=not adjoint))
    lu, b = _broadcast(lu, b)
    if 0 in b.shape[-2:]:
        return b
    order = _order(pivots, lu.shape[-2]).expand(lu.shape[:-1])
    if not adjoint:
        y = _triangular(lu, _in_order(b, order), upper=False, unit=True)
        return _triangular(lu, y, upper=True)
    y = _triangular(_t(lu), b, upper=False)
    return _in_order(_triangular(_t(lu), y, upper=True, unit=True), _inverse_order(order))


def _solve(
    a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, ...]:
    """X with A X = B, or X A = B, and the factors of A. B is a stack of vectors if its shape is
    that of A without the last axis."""
    lu, pivots, info = _lu(a, check_errors=check_errors)
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    x = _lu_solve(lu, pivots, b.unsqueeze(-1) if is_vector else b, left=left)
    return x.squeeze(-1) if is_vector else x, lu, pivots, info


def _inverse(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    x, _, _, info = _solve(a, _identity(a, a.shape[-1]), check_errors=check_errors)
    return x, info


# -- triangles -------------------------------------------------------------------------------------


def _triangular(a: Tensor, b: Tensor, *, upper: bool, unit: bool = False) -> Tensor:
    """X with A X = B, for (..., n, n) and (..., n, k): by substitution, without a look at the other
    triangle. On the diagonal are ones if `unit`."""
    a, b = _broadcast(a, b)
    if 0 in b.shape[-2:]:
        return b
    rows, diagonal = _rows(b), a.diagonal(0, -2, -1)

    def step(x: Tensor, i: Tensor) -> tuple[Tensor, None]:
        row = _row(x, i) if unit else _row(x, i) / _cell(diagonal, i)
        is_left = rows < i if upper else rows > i
        return is_left.where(x - _column(a, i) * row, rows.eq(i).where(row, x)), None

    return scan(step, b, Tensor.arange(b.shape[-2]), reverse=upper)[0]


def _solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    if left:
        return _triangular(a, b, upper=upper, unit=unitriangular)
    return _t(_triangular(_t(a), _t(b), upper=not upper, unit=unitriangular))


def _old_triangular_solve(
    b: Tensor, a: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    a, b = _broadcast(a, b)
    x = _triangular(_t(a) if transpose else a, b, upper=upper != transpose, unit=unitriangular)
    return x, a


# -- Cholesky --------------------------------------------------------------------------------------


def _cholesky(
    a: Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor]:
    """L with A = L Lᵀ, or U with A = Uᵀ U, of which A has that triangle; and info. After a pivot
    that is not positive, L is not specified."""
    _not_checked(check_errors)
    lower = _t(a) if upper else a
    if a.shape[-1] == 0:
        return a, _first(a.diagonal(0, -2, -1))
    rows, columns = _rows(a), _columns(a)

    def step(x: Tensor, i: Tensor) -> tuple[Tensor, Tensor]:
        column = _column(x, i)
        pivot = _row(column, i)
        root = pivot.sqrt()
        done = rows.eq(i).where(root, (rows > i).where(column / root, 0))
        x = (columns > i).where(x - done * _t(done), columns.eq(i).where(done, x))
        return x, (pivot > 0).logical_not().reshape(a.shape[:-2])

    factor, is_bad = scan(step, lower, Tensor.arange(a.shape[-1]))
    factor = factor.tril()
    return _t(factor) if upper else factor, _first(_batch_last(is_bad))


def _cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    lower = _t(factor) if upper else factor
    return _triangular(_t(lower), _triangular(lower, b, upper=False), upper=True)


def _cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    return _cholesky_solve(_identity(factor, factor.shape[-1]), factor, upper)


# -- QR --------------------------------------------------------------------------------------------


def _reflections(a: Tensor) -> tuple[Tensor, Tensor]:
    """R on and above the diagonal and the vectors of Householder's reflections below it, and the
    tau of each, (..., k). The reflected cell has the sign that the diagonal has not."""
    *lead, m, n = a.shape
    if m == 0 or n == 0:
        return a, Tensor.zeros((*lead, 0), dtype=a.dtype)
    rows, columns = _rows(a), _columns(a)

    def step(x: Tensor, i: Tensor) -> tuple[Tensor, Tensor]:
        column = _column(x, i)
        head, below = _row(column, i), (rows > i).where(column, 0)
        # Squares of what the greatest cell has divided do not overflow.
        scale = (rows >= i).where(column.abs(), 0).max(-2, keepdim=True)
        scale = scale.eq(0).where(1, scale)
        rest = ((below / scale) ** 2).sum(-2, keepdim=True)
        norm = ((head / scale) ** 2 + rest).sqrt() * scale
        is_done = rest.eq(0)
        beta = is_done.where(head, (head < 0).where(norm, -norm))
        tau = is_done.where(0, (beta - head) / is_done.where(1, beta))
        v = below / is_done.where(1, head - beta)
        whole = rows.eq(i).where(1, v)
        moved = x - tau * whole * (whole * x).sum(-2, keepdim=True)
        own = rows.eq(i).where(beta, (rows > i).where(v, x))
        x = (columns > i).where(moved, columns.eq(i).where(own, x))
        return x, tau.reshape(lead)

    r, tau = scan(step, a, Tensor.arange(smaller(m, n)))
    return r, _batch_last(tau)


def _reflected(a: Tensor, tau: Tensor, c: Tensor, transpose: bool = False) -> Tensor:
    """Q C, or Qᵀ C, for the Q of the reflections that are below the diagonal of a."""
    if 0 in (*tau.shape[-1:], *c.shape[-2:]):
        return c
    rows = _rows(a)

    def step(x: Tensor, i: Tensor) -> tuple[Tensor, None]:
        v = rows.eq(i).where(1, (rows > i).where(_column(a, i), 0))
        return x - _cell(tau, i) * v * (v * x).sum(-2, keepdim=True), None

    return scan(step, c, Tensor.arange(tau.shape[-1]), reverse=not transpose)[0]


def _householder_product(a: Tensor, tau: Tensor) -> Tensor:
    return _reflected(a, tau, _identity(a, a.shape[-2])[..., : a.shape[-1]])


def _ormqr(a: Tensor, tau: Tensor, c: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    if left:
        return _reflected(a, tau, c, transpose)
    return _t(_reflected(a, tau, _t(c), not transpose))


def _qr(a: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    m, n = a.shape[-2:]
    factors, tau = _reflections(a)
    width = m if mode == "complete" else smaller(m, n)
    r = factors[..., :width, :].triu()
    if mode == "r":
        return Tensor.zeros((0,), dtype=a.dtype), r
    return _reflected(factors, tau, _identity(a, m)[..., :width]), r


# -- LDL -------------------------------------------------------------------------------------------

_GROWTH = (1 + math.sqrt(17)) / 8
"""The least share of the greatest cell of a column that a pivot has: with it, the bounds of how
much cells grow by one block of 2 x 2 and by two pivots are equal (Bunch and Kaufman, 1977)."""


def _ldl(
    a: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """L below the blocks of D, of the symmetric matrices that have this lower triangle; pivots; and
    info. D has blocks of 1 x 1, and of 2 x 2 where two pivots are negative.

    A step is a column. One that is the second of a block of two changes nothing.
    """
    _not_checked(check_errors)
    *lead, n, _ = a.shape
    if n == 0:
        none = Tensor.zeros((*lead, 0), dtype="int32")
        return a, none, _first(none)
    rows, columns = _rows(a), _columns(a)

    def step(state: tuple[Tensor, Tensor], i: Tensor) -> tuple[Any, Any]:
        x, before = state  # `before` is the pivot of a block that began a step ago, or 0.
        skipped = before.eq(0).logical_not()
        # The pivot: this cell, another one on the diagonal, or a block of two.
        column = _column(x, i)
        own, below = _row(column, i).abs(), (rows > i).where(column.abs(), 0)
        greatest, at = below.max(-2, keepdim=True), below.argmax(-2, keepdim=True)
        line = x.gather(-2, at.expand((*lead, 1, n))).abs()
        others = ((columns >= i) & columns.eq(at).logical_not()).where(line, 0)
        widest = others.max(-1, keepdim=True)
        corner = columns.eq(at).where(line, 0).max(-1, keepdim=True)
        is_bad = own.maximum(greatest).eq(0) | own.isnan()
        ratio = greatest / widest.eq(0).where(1, widest)
        stays = is_bad | (own >= _GROWTH * greatest) | (own >= _GROWTH * greatest * ratio)
        is_two = stays.logical_not() & (corner >= _GROWTH * widest).logical_not()
        pivot = stays.where(i, at)
        # Rows and columns of what is left change places.
        second = is_two.where(i + 1, i)
        order = rows.eq(second).where(pivot, rows.eq(pivot).where(second, rows))
        swapped = x.gather(-2, order.expand(x.shape)).gather(-1, _t(order).expand(x.shape))
        y = ((rows >= i) & (columns >= i)).where(swapped, x)
        # Eliminate one column, or two.
        first, next = _column(y, i), _column(y, (i + 1).minimum(n - 1))
        d, e = _row(first, i), _row(first, (i + 1).minimum(n - 1))
        f = _row(next, (i + 1).minimum(n - 1))
        one = first / is_bad.where(1, d)
        both = _block(d, e, f, first, next, is_two)
        is_left = (rows > second) & (columns > second)
        less = is_two.where(both[0] * _t(first) + both[1] * _t(next), one * _t(first))
        z = (is_left & is_bad.logical_not()).where(y - less, y)
        z = (columns.eq(i) & (rows > second)).where(is_two.where(both[0], one), z)
        z = (columns.eq(i + 1) & is_two & (rows > second)).where(both[1], z)
        number = is_two.where(-1 - pivot, pivot + 1).cast("int32")
        new = skipped.where(x, z), skipped.where(0, is_two.where(number, 0))
        return new, (skipped.where(before, number), is_bad & skipped.logical_not())

    start = _symmetric(a), Tensor.zeros((*lead, 1, 1), dtype="int32")
    (ld, _), (pivots, is_bad) = scan(step, start, Tensor.arange(n))
    info = _first(_batch_last(is_bad.reshape((n, *lead))))
    return ld.tril(), _batch_last(pivots.reshape((n, *lead))), info


def _block(
    d: Tensor, e: Tensor, f: Tensor, x: Tensor, y: Tensor, is_block: Tensor
) -> tuple[Tensor, Tensor]:
    """The solution of [[d, e], [e, f]] for right sides x and y, divided by e first, which is the
    greatest."""
    e = is_block.where(e, 1)
    d, f, x, y = d / e, f / e, x / e, y / e
    det = is_block.where(d * f - 1, 1)
    return (f * x - y) / det, (d * y - x) / det


def _ldl_solve(ld: Tensor, pivots: Tensor, b: Tensor, *, hermitian: bool = False) -> Tensor:
    """X with A X = B, for the factors and pivots of A."""
    ld, b = _broadcast(ld, b)
    *lead, n, _ = b.shape
    if 0 in b.shape[-2:]:
        return b
    rows = _rows(b)
    numbers = pivots.expand((*lead, n)).unsqueeze(-1).unsqueeze(-1).movedim(-3, 0)

    def exchanged(x: Tensor, i: Tensor, j: Tensor) -> Tensor:
        order = rows.eq(i).where(j, rows.eq(j).where(i, rows)).expand((*lead, n, 1))
        return x.gather(-2, order.expand(x.shape))

    def forward(state: tuple[Tensor, Tensor], given: tuple[Tensor, Tensor]) -> tuple[Any, Any]:
        x, is_second = state
        i, number = given
        is_two = (number < 0) & is_second.logical_not()
        second = is_two.where(i + 1, i)
        y = exchanged(x, second, number.abs() - 1)
        after = (i + 1).minimum(n - 1)
        left, right = _column(ld, i), _column(ld, after)
        upper, lower = _row(y, i), _row(y, after)
        d, e, f = _row(left, i), _row(left, after), _row(right, after)
        top, bottom = _block(d, e, f, upper, lower, is_two)
        less = left * upper + is_two.where(right * lower, 0)
        y = (rows > second).where(y - less, y)
        y = rows.eq(i).where(is_two.where(top, upper / d), y)
        y = (rows.eq(i + 1) & is_two).where(bottom, y)
        return (is_second.where(x, y), is_two), is_two

    def backward(x: Tensor, given: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, None]:
        i, number, is_two = given
        is_second = (number < 0) & is_two.logical_not()
        last = is_two.where(i + 1, i)
        less = (rows > last).where(_column(ld, i) * x, 0).sum(-2, keepdim=True)
        x = rows.eq(i).where(x - less, x)
        return is_second.where(x, exchanged(x, last, number.abs() - 1)), None

    none = Tensor.zeros((*lead, 1, 1), dtype="int32").cast("bool")
    steps = Tensor.arange(n)
    (x, _), is_two = scan(forward, (b, none), (steps, numbers))
    return scan(backward, x, (steps, numbers, is_two), reverse=True)[0]


# -- singular values ------------------------------------------------------------------------------


def _decomposed(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V, by Jacobi's rotations in a loop. Columns of U are 0 where S is 0."""
    m, n = a.shape[-2:]
    if isinstance(m, SymInt) or isinstance(n, SymInt):
        raise Refusal("extents decide the number of rotations, so they are not symbolic")
    if m < n:
        v, s, u = _decomposed(_t(a))
        return u, s, v
    if n == 0:
        return a, a.sum(-2), a[..., :0, :]

    def repeat(function: Callable[[Tensor], Tensor], x: Tensor, times: int) -> Tensor:
        return scan(lambda x, _: (function(x), None), x, length=times)[0]

    return a._jacobi(repeat)


def _svd(
    a: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The singular values. Vectors are PyTorch's: several are right."""
    if compute_uv:
        raise Refusal("singular vectors are any up to their signs: they are PyTorch's")
    none = Tensor.zeros((0,), dtype=a.dtype)
    return none, _decomposed(a)[1], none


def _eigh(a: Tensor, UPLO: str = "L", compute_v: bool = True) -> tuple[Tensor, Tensor]:
    """The eigenvalues, ascending, of the symmetric matrices that have this triangle. Vectors are
    PyTorch's: several are right.

    They are the singular values of A + c, which has no negative eigenvalue, minus c. What that
    rounds is no more than the error of any method, relative to the greatest eigenvalue.
    """
    if compute_v:
        raise Refusal("eigenvectors are any up to their signs: they are PyTorch's")
    x = _symmetric(a, UPLO == "L").cast("float64")
    c = x.abs().sum(-1).max(-1, keepdim=True) if a.shape[-1] else x.sum(-1)
    values = _decomposed(x + c.unsqueeze(-1) * _identity(x, x.shape[-1]))[1] - c
    return values.flip(-1), Tensor.zeros((0,), dtype=a.dtype)


def _symmetric(a: Tensor, is_lower: bool = True) -> Tensor:
    """The symmetric matrices whose one triangle is that of a."""
    x = a if is_lower else _t(a)
    return x.tril() + _t(x.tril(-1))


def _pseudoinverse(
    a: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False
) -> Tensor:
    """The pseudoinverses. Singular values up to the greater one of atol and rtol times the greatest
    value are 0. By default rtol is the rounding times the number of rows or columns, or 0 where
    atol is positive."""
    m, n = a.shape[-2:]
    if 0 in a.shape:
        return Tensor.zeros((*a.shape[:-2], n, m), dtype=a.dtype)
    x = _symmetric(a) if hermitian else a
    u, s, v = _decomposed(x)
    zero = Tensor.zeros((), dtype=a.dtype)
    absolute = zero if atol is None else atol
    rounding = max(m, n) * torch.finfo(THEIRS[a.dtype]).eps
    relative = (absolute > 0).where(zero, rounding) if rtol is None else rtol
    limit = absolute.unsqueeze(-1).maximum(relative.unsqueeze(-1) * s[..., :1])
    is_zero = s <= limit
    inverse = is_zero.where(0, 1 / is_zero.where(1, s)).cast(a.dtype)
    return (v * inverse.unsqueeze(-2)).dot(_t(u))


# -- functions -------------------------------------------------------------------------------------

_DEGREE = 20
"""The degree of the polynomial for the exponential, a multiple of 4. With norms up to `_NORM`, the
rest of Taylor's series is below 1e-19, less than the rounding of an f64."""
_NORM = 1.0
"""The greatest norm of a matrix whose exponential is a polynomial. Larger: the series needs more
terms; smaller: more squarings, each of which doubles the relative error."""


def _exponential(a: Tensor) -> Tensor:
    """The exponentials of square matrices: of A / 2^s by Taylor's series, squared s times, where s
    is that of each matrix. (Moler and Van Loan, Nineteen dubious ways, method 3.)

    Computed in f64, since squarings double the error, which is rounded to the dtype of the result.
    """
    if 0 in a.shape[-2:]:
        return a
    a = a.cast("float64")
    norm = a.abs().sum(-2, keepdim=True).max(-1, keepdim=True)
    # Infinities and NaNs stay what they are without being divided.
    is_finite = norm < math.inf
    ratio = is_finite.where(norm / _NORM, 1)
    count = (ratio > 1).where(ratio.log2().ceil(), 0)
    x = a / count.exp2()
    square = x.dot(x)
    powers = [_identity(a, a.shape[-1]), x, square, square.dot(x)]
    fourth = square.dot(square)
    total = powers[0] * (1 / math.factorial(_DEGREE))
    for first in range(_DEGREE - 4, -1, -4):  # Horner's rule, in powers of the fourth one.
        terms = [p * (1 / math.factorial(first + j)) for j, p in enumerate(powers)]
        total = total.dot(fourth) + sum(terms[1:], terms[0])

    def squared(state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        y, left = state
        return (left > 0).where(y.dot(y), y), left - 1

    return while_loop(lambda state: (state[1] > 0).any(), squared, (total, count))[0]


def _not_checked(check_errors: bool) -> None:
    if check_errors:
        raise Refusal("programs raise no errors: PyTorch looks at the info that they return")


LINALG: Table = in_own_dtype(
    {
        aten.linalg_lu_factor_ex.default: _lu,
        aten.linalg_lu.default: _lu_of,
        aten.lu_unpack.default: _lu_unpack,
        aten.linalg_lu_solve.default: _lu_solve,
        aten._linalg_solve_ex.default: _solve,
        aten.linalg_inv_ex.default: _inverse,
        aten.linalg_solve_triangular.default: _solve_triangular,
        aten.triangular_solve.default: _old_triangular_solve,
        aten.linalg_cholesky_ex.default: _cholesky,
        aten.cholesky_solve.default: _cholesky_solve,
        aten.cholesky_inverse.default: _cholesky_inverse,
        aten.geqrf.default: _reflections,
        aten.linalg_householder_product.default: _householder_product,
        aten.ormqr.default: _ormqr,
        aten.linalg_qr.default: _qr,
        aten.linalg_ldl_factor_ex.default: _ldl,
        aten.linalg_ldl_solve.default: _ldl_solve,
        aten._linalg_svd.default: _svd,
        aten._linalg_eigh.default: _eigh,
        aten.linalg_pinv.atol_rtol_tensor: _pseudoinverse,
        aten.linalg_matrix_exp.default: _exponential,
    }
)
