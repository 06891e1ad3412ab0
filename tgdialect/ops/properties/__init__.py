"""The specification's "Derived Properties" table, as code.

Each op has a row with one rule per property: dtype, shape, device, addrspace, axis (the sharding
axis) and min_max. `result_type` combines the first five. No other code computes these properties.

* `table.py`: the rows;
* `dtype.py`, `shape.py`, `device.py` (also addrspace), `axis.py`, `min_max.py`: the columns;
* `values.py`: types and arguments of ops as Python values, the inputs of rules;
* `symbolic.py`: extents, as polynomials in index values;
* `substitution.py`: the type of a FUNCTION's result, given its arguments.

A rule for dtype, device, addrspace or axis reads the op alone. A shape rule also gets the shapes of
the operands; their dynamic dimensions are SSA values, so two `?` can be compared. A min_max rule
also gets the intervals of the operands, which `analysis/min_max.py` computes.
"""

from tgdialect.ops.properties.device import argument as device_argument
from tgdialect.ops.properties.device import show as show_device
from tgdialect.ops.properties.shape import (
    broadcast_shapes,
    negative_extent,
    window,
    window_misfit,
)
from tgdialect.ops.properties.symbolic import (
    NAME_THE_EXTENT,
    Atom,
    Dim,
    Polynomial,
    Shape,
    UnknownDim,
    known_index,
    polynomial,
    product,
    same_dim,
    same_shape,
    same_size,
    show_dim,
    show_shape,
    substituted,
)
from tgdialect.ops.properties.table import (
    TABLE,
    Row,
    Rules,
    is_type_written,
    result_type,
    rule_of,
    shape_of,
)
from tgdialect.ops.properties.values import (
    dtype_of,
    index_array,
    integer,
    integers,
    is_memory,
    mixed,
    number,
    place,
    place_of,
    static_bytes,
    static_indices,
    static_shape,
    tensor,
    tensor_type,
    type_of_number,
)

__all__ = [
    "NAME_THE_EXTENT",
    "TABLE",
    "Atom",
    "Dim",
    "Polynomial",
    "Row",
    "Rules",
    "Shape",
    "UnknownDim",
    "broadcast_shapes",
    "device_argument",
    "dtype_of",
    "index_array",
    "integer",
    "integers",
    "is_memory",
    "is_type_written",
    "known_index",
    "mixed",
    "negative_extent",
    "number",
    "place",
    "place_of",
    "polynomial",
    "product",
    "result_type",
    "rule_of",
    "same_dim",
    "same_shape",
    "same_size",
    "shape_of",
    "show_device",
    "show_dim",
    "show_shape",
    "static_bytes",
    "static_indices",
    "static_shape",
    "substituted",
    "tensor",
    "tensor_type",
    "type_of_number",
    "window",
    "window_misfit",
]
