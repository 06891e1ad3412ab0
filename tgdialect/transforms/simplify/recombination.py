"""Recombination: quotients and remainders of one dividend, in one sum, become the dividend.

The identities hold with wrapping for any y. Those with `y + ...` need that this sum does not wrap.
If y is `x idiv k + b`, then `y idiv n` may also appear as `(x + b * k) idiv (k * n)`, for k, n > 0.

    n * (y idiv n) + y mod n            = y
    n * ((y idiv n + c) mod m) + y mod n  = (y + c * n) mod (n * m)    for n not 0 or -1, m > 0
    y - n * (y idiv n)                  = y mod n
    y idiv n + (y + 1) idiv n + ... + (y + n - 1) idiv n  = y    (Hermite's identity)

Two WHEREs of one condition become one WHERE of sums if that takes no more ops: if both have
constants in the same branch, or if in each branch one of the two is 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from tgdialect.ops import tg
from tgdialect.ops.affine import Linear
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.matching import divided, integer_of

MAX_UNROLLED = 64
"""The greatest divisor n to which Hermite's identity is applied. The identity needs n quotients,
and the search for them takes time linear in n."""


def recombine(engine: Engine, form: Linear, like: SSAValue) -> Linear:
    """Apply the identities to a form of the dtype of `like` until none applies."""
    dtype = tg.dtype_of(like)
    # Each identity is of two terms or more, of which one is of such an op.
    while len(form.terms) > 1 and any(isinstance(atom.owner, _RECOMBINED) for atom in form.terms):
        for identity in (_joined, _remainder, _unrolled, _chosen):
            if (smaller := identity(engine, form, like)) is not None:
                form = smaller.wrapped(dtype)
                break
        else:
            break
    return form


_RECOMBINED = (tg.IDivOp, tg.ModOp, tg.WhereOp)


def _joined(engine: Engine, form: Linear, like: SSAValue) -> Linear | None:
    """The first two identities: a multiple of a quotient plus a remainder."""
    for low, k in form.terms.items():
        if (remainder := divided(low, "tg.mod")) is None:
            continue
        y, n = remainder
        for high, coefficient in form.terms.items():
            if coefficient != k * n:
                continue
            rest = form - tg.Affine({low: k, high: coefficient})
            # n * (y idiv n) + y mod n = y
            if _beyond_quotient(engine, high, y, n) == 0:
                return rest + engine.form(y) * k
            # n * ((y idiv n + c) mod m) + y mod n = (y + c * n) mod (n * m)
            outer = divided(high, "tg.mod")
            if outer is None or outer[1] <= 0 or n == -1:
                continue
            if not tg.dtype_of(like).low <= n * outer[1] <= tg.dtype_of(like).high:
                continue
            beyond = _beyond_quotient(engine, outer[0], y, n)
            shifted = engine.exact_form(y) + (beyond or 0) * n
            if beyond is not None and engine.fits(shifted, tg.dtype_of(like)):
                divisor = engine.integer(n * outer[1], like)
                whole = engine.apply("tg.mod", (engine.emit(shifted, like), divisor))
                return rest + engine.form(whole) * k
    return None


def _beyond_quotient(engine: Engine, value: SSAValue, y: SSAValue, n: int) -> int | None:
    """The constant c if a value is `y idiv n + c`, in any of its forms; otherwise None."""
    for dividend, divisor, beyond in _quotients(engine, value):
        if beyond.terms:
            continue
        if (dividend, divisor) == (y, n):
            return beyond.constant
        for x, k, b in _quotients(engine, y):
            difference = engine.exact_form(dividend) - engine.exact_form(x)
            if k > 0 and n > 0 and divisor == k * n and difference == b * k:
                return beyond.constant
    return None


def _quotients(engine: Engine, value: SSAValue) -> Iterator[tuple[SSAValue, int, Linear]]:
    """The ways to write a value as `dividend idiv divisor + rest` over the integers."""
    form = engine.exact_form(value)
    for atom, coefficient in form.terms.items():
        quotient = divided(atom, "tg.idiv")
        if quotient and coefficient == 1:
            yield (*quotient, form - tg.Affine({atom: 1}))


def _remainder(engine: Engine, form: Linear, like: SSAValue) -> Linear | None:
    """The identity `y - n * (y idiv n) = y mod n`, if the form then has fewer terms."""
    for high, coefficient in form.terms.items():
        quotient = divided(high, "tg.idiv")
        if quotient is None or coefficient % quotient[1]:
            continue
        y, n = quotient
        k = -(coefficient // n)
        rest = form - tg.Affine({high: coefficient}) - engine.form(y) * k
        if len(rest.terms) + 1 < len(form.terms):
            low = engine.apply("tg.mod", (y, engine.integer(n, like)))
            return rest + engine.form(low) * k
    return None


def _unrolled(engine: Engine, form: Linear, like: SSAValue) -> Linear | None:
    """Hermite's identity: the quotients of n successive dividends by n."""
    if len(form.terms) < 2:
        return None
    found: dict[tuple[int, int, Linear], dict[int, tuple[SSAValue, int]]] = {}
    for atom, k in form.terms.items():
        quotient = divided(atom, "tg.idiv")
        if quotient is None or not 1 < quotient[1] <= MAX_UNROLLED:
            continue
        y, n = quotient
        # Group quotients whose dividends differ only in their constant, by its remainder.
        dividend = engine.exact_form(y)
        quotients = found.setdefault((n, k, tg.Affine(dividend.terms)), {})
        whole, remainder = divmod(dividend.constant, n)
        quotients[remainder] = atom, whole
        # All n remainders are there: replace the quotients by the dividend.
        if len(quotients) == n:
            rest = form - tg.Affine({a: k for a, _ in quotients.values()})
            wholes = sum(whole for _, whole in quotients.values())
            return rest + tg.Affine(dividend.terms, wholes) * k
    return None


def _chosen(engine: Engine, form: Linear, like: SSAValue) -> Linear | None:
    """Two WHEREs of one condition with equal coefficients, as one WHERE."""
    found: dict[tuple[SSAValue, int], SSAValue] = {}
    for atom, k in form.terms.items():
        if not isinstance(atom.owner, tg.WhereOp):
            continue
        condition, *branches = atom.owner.operands
        first = found.setdefault((condition, k), atom)
        if first is atom or not isinstance(first.owner, tg.WhereOp):
            continue
        pairs = list(zip(first.owner.operands[1:], branches, strict=True))
        numbers = [(integer_of(a), integer_of(b)) for a, b in pairs]
        if any(None not in pair for pair in numbers) or all(0 in pair for pair in numbers):
            sums = [engine.apply("tg.add", pair) for pair in pairs]
            chosen = engine.apply("tg.where", (condition, *sums))
            if chosen.type == like.type:
                return form - tg.Affine({first: k, atom: k}) + engine.form(chosen) * k
    return None
