"""`tg-annotate-properties`: print every derived property, for tests and for reading."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, OpResult
from xdsl.passes import ModulePass

from tgdialect.analysis.min_max import MinMax
from tgdialect.ops import tg


@dataclass(frozen=True)
class AnnotatePropertiesPass(ModulePass):
    """Give each op with a tensor result an attribute per property; a null property has none.

    `tg.shape` and `tg.min_max` are strings: `"4x8"` (`"()"` of a scalar, `"4x%n"` where a dynamic
    extent is a value of that name), and `"[0, 3]"`, `"[-inf, inf] or nan"`, exactly.

        %1 = tg.mod %0, %c {tg.dtype = index, tg.shape = "()", tg.min_max = "[0, 3]"}
          : tensor<index>
    """

    name = "tg-annotate-properties"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        min_max = MinMax()
        for inner in op.walk():
            if isinstance(inner, tg.TgOp):
                for result in inner.results:
                    if isinstance(result.type, TensorType):
                        inner.attributes.update(derived_properties(result, min_max))


def derived_properties(value: OpResult, min_max: MinMax) -> dict[str, Attribute]:
    """The properties of a tensor as attributes, in the order of the specification's table."""
    where = tg.place(value)
    attributes: dict[str, Attribute | None] = {
        "tg.dtype": tg.tensor(value).element_type,
        "tg.shape": StringAttr(tg.show_shape(tg.shape_of(value))),
        "tg.device": where.device_attr if where.device is not None else None,
        "tg.addrspace": where.addrspace_attr if where.addrspace is not None else None,
        "tg.axis": None if where.axis is None else IntegerAttr.from_index_int_value(where.axis),
        "tg.min_max": StringAttr(str(min_max[value])),
    }
    return {name: value for name, value in attributes.items() if value is not None}
