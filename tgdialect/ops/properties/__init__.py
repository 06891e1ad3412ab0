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

# ruff: noqa: F401, F403
# pyright: reportUnusedImport=false

from tgdialect.ops.properties.device import argument as device_argument
from tgdialect.ops.properties.device import show as show_device
from tgdialect.ops.properties.shape import broadcast_shapes, negative_extent, window, window_misfit
from tgdialect.ops.properties.symbolic import *
from tgdialect.ops.properties.table import *
from tgdialect.ops.properties.values import *
