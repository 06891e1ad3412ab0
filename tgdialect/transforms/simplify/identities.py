"""The rules that hold without guards. Both `canonicalize` and `tg-simplify` apply them.

On floats they are exact for NaN, both zeros and the infinities. On integers they hold with wrap.
The variables of a pattern stand for values of one shape and place. Its constants may be scalars.
"""

from __future__ import annotations

from tgdialect.ops.elementwise import Domain
from tgdialect.transforms.simplify.terms import (
    Rule,
    apply,
    constants,
    lit,
    maximum,
    variables,
    where,
)

a, b, c = variables("a b c", Domain.ANY)
m, n = variables("m n", Domain.BITS)
p, q = variables("p q", Domain.BOOL)
x, y = variables("x y")
(f,) = variables("f", Domain.FLOAT)
k1, k2, k3 = constants("k1 k2 k3")

TRUE, FALSE = lit(1), lit(0)
"""The bool constants."""

NEUTRAL = (
    Rule("add 0", m + 0, m),
    Rule("add -0.0", f + -0.0, f),
    Rule("sub 0", a - 0, a),
    Rule("mul 1", a * 1, a),
    Rule("div 1", apply("tg.div", f, 1), f),
    Rule("idiv 1", x // 1, x),
    Rule("or 0", m | 0, m),
    Rule("xor 0", m ^ 0, m),
    Rule("and ones", m & -1, m),
    Rule("shl 0", x << 0, x),
    Rule("shr 0", x >> 0, x),
)
"""Neutral operands. For a float, x + 0 is not x, since it turns -0 into +0."""

ABSORBING = (
    Rule("mul 0", m * 0, lit(0)),
    Rule("and 0", m & 0, lit(0)),
    Rule("or ones", m | -1, lit(-1)),
    Rule("mod 1", x % 1, lit(0)),
    Rule("idiv by 0", x // 0, lit(0)),
    Rule("mod by 0", x % 0, lit(0)),
    Rule("0 idiv", lit(0) // x, lit(0)),
    Rule("0 mod", lit(0) % x, lit(0)),
    Rule("0 shl", lit(0) << x, lit(0)),
    Rule("0 shr", lit(0) >> x, lit(0)),
)
"""Absorbing operands. For a float, x * 0 is not 0, since it may be NaN or -0."""

SAME = (
    Rule("max of same", maximum(a, a), a),
    Rule("and of same", m & m, m),
    Rule("or of same", m | m, m),
    Rule("xor of same", m ^ m, lit(0)),
    Rule("sub of same", x - x, lit(0)),
    Rule("mod of same", x % x, lit(0)),
    Rule("less than same", a < a, FALSE),
    Rule("greater than same", a > a, FALSE),
    Rule("at most same", a <= a, TRUE),
    Rule("at least same", a >= a, TRUE),
    Rule("not equal to same", m.ne(m), FALSE),
    Rule("equal to same", m.eq(m), TRUE),
)
"""Equal operands. `a <= a` is the negation of `a < a`, so it is true for NaN as well."""

INVOLUTIONS = (
    Rule("neg of neg", apply("tg.neg", -a), a),
    Rule("not of not", ~~p, p),
    Rule("trunc of trunc", apply("tg.trunc", apply("tg.trunc", a)), apply("tg.trunc", a)),
    Rule("trunc of integer", apply("tg.trunc", m), m),
    Rule("not less", ~(a < b), a >= b),
    Rule("not greater", ~(a > b), a <= b),
    Rule("not at least", ~(a >= b), a < b),
    Rule("not at most", ~(a <= b), a > b),
    Rule("not unequal", ~a.ne(b), a.eq(b)),
    Rule("not equal", ~a.eq(b), a.ne(b)),
)
"""Negations. CMPGE and CMPLE are by definition negations of CMPLT, for NaN as well."""

SELECTIONS = (
    Rule("where true", where(TRUE, a, b), a),
    Rule("where false", where(FALSE, a, b), b),
    Rule("where of same", where(p, a, a), a),
    Rule("where not", where(~p, a, b), where(p, b, a)),
    Rule("where in its true branch", where(p, where(p, a, b), c), where(p, a, c)),
    Rule("where in its false branch", where(p, a, where(p, b, c)), where(p, a, c)),
    Rule("where as bool", where(p, TRUE, FALSE), p),
    Rule("where as not", where(p, FALSE, TRUE), ~p),
    Rule("where as and", where(p, q, FALSE), p & q),
    Rule("where as or", where(p, TRUE, q), p | q),
    Rule("where repeated as and", where(p, q, p), p & q),
    Rule("where repeated as or", where(p, p, q), p | q),
    Rule("unequal where", where(p, k1, k2).ne(k3), where(p, k1.ne(k3), k2.ne(k3))),
    Rule("equal where", where(p, k1, k2).eq(k3), where(p, k1.eq(k3), k2.eq(k3))),
    Rule("where less", where(p, k1, k2) < k3, where(p, k1 < k3, k2 < k3)),
    Rule("less where", k3 < where(p, k1, k2), where(p, k3 < k1, k3 < k2)),
)
"""A WHERE whose outcome is known, nested WHEREs of one condition, WHERE as logic, and comparisons
of a WHERE of constants."""

LOGIC = (
    Rule("unequal to false", p.ne(FALSE), p),
    Rule("unequal to true", p.ne(TRUE), ~p),
    Rule("equal to true", p.eq(TRUE), p),
    Rule("equal to false", p.eq(FALSE), ~p),
    Rule("xor true", p ^ TRUE, ~p),
    Rule("bool sum", p + q, p | q),
    Rule("bool product", p * q, p & q),
    Rule("bool maximum", maximum(p, q), p | q),
    Rule("contradiction", p & ~p, FALSE),
    Rule("excluded middle", p | ~p, TRUE),
    Rule("xor of opposites", p ^ ~p, TRUE),
    Rule("absorbed and", m & (m | n), m),
    Rule("absorbed or", m | (m & n), m),
    Rule("repeated and", m & (m & n), m & n),
    Rule("repeated or", m | (m | n), m | n),
    Rule("cancelled xor", m ^ (m ^ n), n),
)
"""Boolean algebra. Laws that hold for each bit apply to integers too."""

IDENTITIES = (*NEUTRAL, *ABSORBING, *SAME, *INVOLUTIONS, *SELECTIONS, *LOGIC)
"""All rules of this file."""
