"""Narrow floats (f16, bf16, fp8): stored in their own format, computed in f32.

The register form of a narrow value is an f32, rounded to the narrow dtype after every op. The
stored form, which memory holds, is the narrow float itself where the target has an instruction that
converts it to f32, and otherwise an unsigned integer with its bits.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tgdialect.lowering.select.scalars import Scalars, dtype_name
from tgdialect.transforms.recipe import Dtype, RecipeValue
from tgdialect.transforms.soft_float import NARROW_FORMATS, decode, encode, wide_float

EXACT = frozenset(("neg", "max", "trunc", "where"))
"""Ops whose result is representable in a narrow dtype if the operands are: it is not rounded."""


class NarrowFloats:
    """Converts between the register form and the stored form of narrow values.

    The stored form of a register is remembered, so a loaded value is stored without a conversion.
    """

    def __init__(self, scalars: Scalars) -> None:
        self._scalars = scalars
        self._stored: dict[tuple[SSAValue, str], SSAValue] = {}

    def computed_dtype(self, dtype: Dtype) -> Dtype:
        """The dtype of the register form."""
        return "f32" if dtype in NARROW_FORMATS else dtype

    def stored_dtype(self, dtype: Dtype) -> Dtype:
        """The dtype of the stored form."""
        narrow = NARROW_FORMATS.get(dtype)
        return dtype if narrow is None or self._is_converted(dtype) else narrow.unsigned

    def _is_converted(self, dtype: Dtype) -> bool:
        """Whether the target has an instruction that converts a narrow dtype to and from f32."""
        return dtype in self._scalars.target.converted

    def computed(self, stored: SSAValue, dtype: Dtype) -> SSAValue:
        """The register form of a value, from its stored form."""
        if dtype not in NARROW_FORMATS:
            return stored
        if self._is_converted(dtype):
            result = self._scalars.apply("cast", (stored,), "f32")
        else:
            bits = RecipeValue(self._scalars, stored, dtype_name(stored))
            result = decode(bits, NARROW_FORMATS[dtype]).handle
        self._stored[result, dtype] = stored
        return result

    def stored(self, computed: SSAValue, dtype: Dtype) -> SSAValue:
        """The stored form of a value. Rounds an f32 that the narrow `dtype` cannot represent."""
        if dtype not in NARROW_FORMATS:
            return computed
        if (known := self._stored.get((computed, dtype))) is None:
            known = self._stored[computed, dtype] = self._encoded(computed, dtype)
        return known

    def _encoded(self, wide: SSAValue, dtype: Dtype) -> SSAValue:
        if self._is_converted(dtype) and dtype_name(wide) == "f32":
            return self._scalars.apply("cast", (wide,), dtype)
        bits = encode(RecipeValue(self._scalars, wide, dtype_name(wide)), NARROW_FORMATS[dtype])
        stored = self.stored_dtype(dtype)
        return (bits if bits.dtype == stored else bits.bitcast(stored)).handle

    def rounded(self, wide: SSAValue, dtype: Dtype) -> SSAValue:
        """The register form of the narrow value nearest to an f32 or f64."""
        return self.computed(self._encoded(wide, dtype), dtype)

    def converted(self, value: SSAValue, source: Dtype, dtype: Dtype) -> SSAValue:
        """CAST to a narrow `dtype`; `value` is the register form of a value of dtype `source`."""
        if source == dtype:
            return value
        has_f64 = self._scalars.target.has_f64
        wide = wide_float(RecipeValue(self._scalars, value, dtype_name(value)), has_f64=has_f64)
        return self.rounded(wide.handle, dtype)

    def choose(
        self, result: SSAValue, condition: SSAValue, a: SSAValue, b: SSAValue, dtype: Dtype
    ) -> None:
        """Give `result`, a WHERE on register forms, a stored form: a WHERE on the stored forms of
        `a` and `b`, if both are known."""
        stored = self._stored.get((a, dtype)), self._stored.get((b, dtype))
        if stored[0] is not None and stored[1] is not None:
            operands, own = (condition, stored[0], stored[1]), self.stored_dtype(dtype)
            self._stored[result, dtype] = self._scalars.apply("where", operands, own)
