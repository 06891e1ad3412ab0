"""The rules on integers whose guards intervals must prove. Only `tg-simplify` applies them.

`sums.py`, `division.py` and `comparison.py` handle sums, division by constants, and comparisons of
sums instead: these rewrites hold for any number of terms, which a rule cannot express.
"""

from __future__ import annotations

from tgdialect.ops.elementwise import Domain
from tgdialect.transforms.simplify.terms import (
    Fits,
    Rule,
    constants,
    lit,
    maximum,
    variables,
    where,
)

x, y, z = variables("x y z")
(i,) = variables("i", Domain.INDEX)
a, b, c = variables("a b c", Domain.ANY)
p, q = variables("p q", Domain.BOOL)
k1, k2, k3 = constants("k1 k2 k3")

BOUNDED = (
    Rule("mod of less", x % y, x, when=(lit(0) <= x, x < y)),
    Rule("max of greater", maximum(x, y), x, when=(y <= x,)),
    Rule("max of max", maximum(maximum(x, k1), k2), maximum(x, maximum(k1, k2))),
)
"""MOD and MAX of operands that intervals order; an IDIV of these has only one value."""

REPETITION = (Rule("add of same", x + x, x * 2),)
"""A repeated operand becomes a multiple, which is one term of a linear form."""

DIVISION = (
    Rule("multiple mod", (x * y) % y, lit(0), when=(Fits(x * y),)),
    Rule(
        "idiv of idiv",
        (x // k1) // k2,
        x // (k1 * k2),
        when=(k1.ne(-1), lit(0) < k2, Fits(k1 * k2)),
    ),
    Rule(
        "idiv of sum of idiv",
        (x // k1 + k2) // k3,
        (x + k1 * k2) // (k1 * k3),
        when=(k1.ne(0), k1.ne(-1), lit(0) < k3, Fits(k1 * k3), Fits(x + k1 * k2)),
    ),
    Rule("mod of mod", (x % k1) % k2, x % k2, when=(k1.ne(0), (k1 % k2).eq(0))),
    Rule(
        "idiv of mod",
        (x % k1) // k2,
        (x // k2) % (k1 // k2),
        when=(lit(0) < k1, lit(0) < k2, (k1 % k2).eq(0)),
    ),
)
"""Nested division by constants. `quotients.py` divides by variables, but by none that may be 0: a
multiple of such a one is 0 mod it, too."""

SHIFTS = (
    Rule("shr of and", (x & k1) >> k2, x >> k2, when=((k1 >> k2).eq(lit(-1) >> k2),)),
    Rule("shl as mul", i << k1, i * (lit(1) << k1)),
    Rule("shr as idiv", i >> k1, i // (lit(1) << k1), when=(Fits(lit(1) << k1),)),
    Rule(
        "and as mod", i & k1, i % (k1 + 1), when=(lit(0) < k1, Fits(k1 + 1), (k1 & (k1 + 1)).eq(0))
    ),
)
"""Shifts and masks. On indices they become MUL, IDIV and MOD, which the other rewrites know."""

COMPARISONS = (
    Rule("greater", x > y, y < x),
    Rule("at least", x >= k1, k1 - 1 < x, when=(Fits(k1 - 1),)),
    Rule("at most", x <= k1, x < k1 + 1, when=(Fits(k1 + 1),)),
    Rule("constant at least", k1 >= x, x < k1 + 1, when=(Fits(k1 + 1),)),
    Rule("constant at most", k1 <= x, k1 - 1 < x, when=(Fits(k1 - 1),)),
    Rule("idiv less", x // k1 < k2, x < k1 * k2, when=(lit(0) < k1, Fits(k1 * k2))),
    Rule(
        "less than idiv",
        k2 < x // k1,
        (k2 + 1) * k1 - 1 < x,
        when=(lit(0) < k1, Fits((k2 + 1) * k1 - 1)),
    ),
    Rule("negative idiv less", x // k1 < k2, k1 * k2 < x, when=(k1 < 0, k1.ne(-1), Fits(k1 * k2))),
    Rule(
        "less than negative idiv",
        k2 < x // k1,
        x < (k2 + 1) * k1 + 1,
        when=(k1 < 0, k1.ne(-1), Fits((k2 + 1) * k1 + 1)),
    ),
    Rule("both less", (x < y) & (x < z), x < y, when=(y <= z,)),
    Rule("either less", (x < y) | (x < z), x < z, when=(y <= z,)),
    Rule("both greater", (x < z) & (y < z), x < z, when=(y <= x,)),
    Rule("either greater", (x < z) | (y < z), y < z, when=(y <= x,)),
    Rule("less or greater", (x < y) | (z < x), lit(1), when=(z < y,)),
    Rule("neither less nor greater", (x < y) & (y < x), lit(0)),
    Rule("empty interval", (x < y) & (z < x), lit(0), when=(y <= z + 1,)),
)
"""Comparisons become CMPLT where that takes no further op; AND and OR of two may become one."""

SELECTIONS = (
    Rule("where plus", where(p, k1, k2) + k3, where(p, k1 + k3, k2 + k3)),
    Rule("where times", where(p, k1, k2) * k3, where(p, k1 * k3, k2 * k3)),
    Rule("where idiv", where(p, k1, k2) // k3, where(p, k1 // k3, k2 // k3)),
    Rule("where mod", where(p, k1, k2) % k3, where(p, k1 % k3, k2 % k3)),
    Rule(
        "maximum of where true",
        maximum(where(p, x, k1), where(p, y, k2)),
        where(p, maximum(x, y), maximum(k1, k2)),
    ),
    Rule(
        "maximum of where false",
        maximum(where(p, k1, x), where(p, k2, y)),
        where(p, maximum(k1, k2), maximum(x, y)),
    ),
    Rule("times where true", where(p, x, k1) * where(p, y, k2), where(p, x * y, k1 * k2)),
    Rule("times where false", where(p, k1, x) * where(p, k2, y), where(p, k1 * k2, x * y)),
    Rule("product as where", x * where(p, lit(1), lit(0)), where(p, x, 0)),
    Rule("where as maximum", where(x < y, y, x), maximum(x, y)),
    Rule("where of where and", where(p, where(q, a, b), b), where(p & q, a, b)),
    Rule("where of where or", where(p, a, where(q, a, b)), where(p | q, a, b)),
)
"""Arithmetic on a WHERE of constants becomes a WHERE of constants, and nested WHEREs become one."""

ARITHMETIC = (*BOUNDED, *REPETITION, *DIVISION, *SHIFTS, *COMPARISONS, *SELECTIONS)
"""All rules of this file."""
