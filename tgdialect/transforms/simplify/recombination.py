"""Quotients and remainders in one sum, put together again.

All of these hold under wrap, for any y; those with a c or an i where no `y + ...` wraps. Where y is
`x idiv k + b`, `y idiv n` may be written `(x + b * k) idiv (k * n)`, for k, n > 0.

    n * (y idiv n) + y mod n            = y
    n * ((y idiv n + c) mod m) + y mod n  = (y + c * n) mod (n * m)    for n, m > 0
    y - n * (y idiv n)                  = y mod n
    y idiv n + (y + 1) idiv n + ... + (y + n - 1) idiv n  = y    (Hermite's identity)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tgdialect.ops.properties import dtype_of
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.linear import Linear
from tgdialect.transforms.simplify.matching import divided

MAX_UNROLLED = 64
"""The greatest divisor for which all remainders are looked for."""


def recombine(engine: Engine, form: Linear, like: SSAValue) -> Linear:
    """A form of the dtype of `like` with as few quotients and remainders as these allow."""
    dtype = dtype_of(like)
    while True:
        for identity in (_joined, _remainder, _unrolled):
            if (smaller := identity(engine, form, like)) is not None:
                form = smaller.wrapped(dtype)
                break
        else:
            return form


def _joined(engine: Engine, form: Linear, like: SSAValue) -> Linear | None:
    for low, k in form.terms.items():
        if (remainder := divided(low, "tg.mod")) is None:
            continue
        y, n = remainder
        for high, coefficient in form.terms.items():
            if coefficient != k * n:
                continue
            rest = form - Linear({low: k, high: coefficient})
            if _beyond_quotient(engine, high, y, n) == 0:
                return rest + engine.form(y) * k
            outer = divided(high, "tg.mod")
            if outer is None or n <= 0 or outer[1] <= 0 or n * outer[1] > dtype_of(like).high:
                continue
            beyond = _beyond_quotient(engine, outer[0], y, n)
            shifted = engine.exact_form(y) + Linear(constant=(beyond or 0) * n)
            if beyond is not None and engine.fits(shifted, dtype_of(like)):
                divisor = engine.integer(n * outer[1], like)
                whole = engine.apply("tg.mod", (engine.emit(shifted, like), divisor))
                return rest + engine.form(whole) * k
    return None


def _beyond_quotient(engine: Engine, value: SSAValue, y: SSAValue, n: int) -> int | None:
    """What a value is more than `y idiv n`; None if it is no such sum."""
    if (found := _shifted_quotient(engine, value)) is None:
        return None
    dividend, divisor, beyond = found
    if (dividend, divisor) == (y, n):
        return beyond
    inner = _shifted_quotient(engine, y)
    if inner is None or inner[1] <= 0 or n <= 0 or divisor != inner[1] * n:
        return None
    x, k, b = inner
    difference = engine.exact_form(dividend) - engine.exact_form(x)
    return beyond if difference.key == Linear(constant=b * k).key else None


def _shifted_quotient(engine: Engine, value: SSAValue) -> tuple[SSAValue, int, int] | None:
    """A value as `dividend idiv divisor + constant`, over the integers."""
    form = engine.exact_form(value)
    if len(form.terms) != 1:
        return None
    ((atom, coefficient),) = form.terms.items()
    quotient = divided(atom, "tg.idiv")
    return (*quotient, form.constant) if quotient and coefficient == 1 else None


def _remainder(engine: Engine, form: Linear, like: SSAValue) -> Linear | None:
    for high, coefficient in form.terms.items():
        quotient = divided(high, "tg.idiv")
        if quotient is None or coefficient % quotient[1]:
            continue
        y, n = quotient
        k = -(coefficient // n)
        rest = form - Linear({high: coefficient}) - engine.form(y) * k
        if len(rest.terms) + 1 < len(form.terms):
            low = engine.apply("tg.mod", (y, engine.integer(n, like)))
            return rest + engine.form(low) * k
    return None


def _unrolled(engine: Engine, form: Linear, like: SSAValue) -> Linear | None:
    if len(form.terms) < 2:
        return None
    found: dict[tuple[object, ...], dict[int, tuple[SSAValue, int]]] = {}
    for atom, k in form.terms.items():
        quotient = divided(atom, "tg.idiv")
        if quotient is None or not 1 < quotient[1] <= MAX_UNROLLED:
            continue
        y, n = quotient
        dividend = engine.exact_form(y)
        quotients = found.setdefault((n, k, Linear(dividend.terms).key), {})
        whole, remainder = divmod(dividend.constant, n)
        quotients[remainder] = atom, whole
        if len(quotients) == n:
            rest = form - Linear({a: k for a, _ in quotients.values()})
            wholes = sum(whole for _, whole in quotients.values())
            return rest + Linear(dividend.terms, wholes) * k
    return None
