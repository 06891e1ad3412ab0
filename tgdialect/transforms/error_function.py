"""ERF in primitive operations, for f32 and f64.

Within 2 ulp (f32) and 3 ulp (f64) of the exact result for every argument. Up to 1 it is x plus x
times a polynomial in x^2; beyond, 1 - 2^(x Q(x)), where x Q(x) approximates log2 of 1 - erf x: what
Q loses counts for little there, since 1 - erf x is small beside 1. After Juffa's `erff` (2017).
"""

from __future__ import annotations

from dataclasses import dataclass

from tgdialect.transforms.float_format import format_of
from tgdialect.transforms.recipe import V, Value, horner
from tgdialect.transforms.transcendental import clear_sign, exp2_of_normal


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorFunctionTables:
    """The constants of ERF in one format; the coefficients come from `tools/minimax.py`."""

    near: tuple[float, ...]
    """erf(x)/x - 1 in x^2, for |x| <= 1."""
    far: tuple[float, ...]
    """log2(1 - erf x) / x in x, for 1 <= x <= saturation."""
    saturation: float
    """From here on erf x rounds to 1."""


TABLES = {
    "f32": ErrorFunctionTables(
        near=(  # relative error: 2^-28.7
            0.12837916612625122,
            -0.3761262595653534,
            0.1128358542919159,
            -0.026853814721107483,
            0.005188330542296171,
            -0.0008010202436707914,
            7.853849820094183e-05,
        ),
        far=(  # error of erf x: 2^-27.8
            -1.6282249689102173,
            -0.9167030453681946,
            -0.15244822204113007,
            0.033314187079668045,
            -0.00459067290648818,
            0.00020017210044898093,
            4.1023700759978965e-05,
            -5.131674242875306e-06,
        ),
        saturation=4.0,
    ),
    "f64": ErrorFunctionTables(
        near=(  # relative error: 2^-55.1
            0.12837916709551256,
            -0.3761263890318352,
            0.112837916709442,
            -0.026866170643113415,
            0.005223977606130842,
            -0.0008548325929766244,
            0.0001205529358693695,
            -1.4924712439534814e-05,
            1.6447132699786621e-06,
            -1.6206318752969208e-07,
            1.3710988704190523e-08,
            -7.779462971761597e-10,
        ),
        far=(  # error of erf x: 2^-55.2
            -1.6279065807605968,
            -0.9184523285878369,
            -0.14825191975996943,
            0.027551026041492906,
            0.0003810406341353034,
            -0.002544092845048322,
            0.0009344106681668973,
            -8.271283794684047e-05,
            -8.510990690916182e-05,
            5.487252232957945e-05,
            -1.926065098683906e-05,
            4.691381728949049e-06,
            -8.293975669281295e-07,
            1.0541851388328279e-07,
            -9.1806420703343e-09,
            4.917678733786181e-10,
            -1.2231496353596717e-11,
        ),
        saturation=6.0,
    ),
}


def erf(x: Value[V]) -> Value[V]:
    """2/sqrt(pi) times the integral of exp(-t^2) from 0 to x; -0 at -0."""
    form, tables = format_of(x), TABLES[x.dtype]
    magnitude = clear_sign(x, form)
    square = x * x
    near = x.mulacc(horner(square, tables.near), x)

    bounded = (magnitude < tables.saturation).where(magnitude, tables.saturation)
    far = 1.0 - exp2_of_normal(bounded * horner(bounded, tables.far))
    sign = x.bitcast(form.unsigned) & form.sign_bit
    far = (far.bitcast(form.unsigned) | sign).bitcast(form.dtype)
    return (magnitude > 1.0).where(far, near)  # NaN is near.
