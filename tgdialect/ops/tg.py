"""The dialect as one namespace: `tg.AddOp` is `tg.add`, `tg.shape_of(v)` its derived shape.

It has the ops, types and attributes, the dtypes, what the derived properties are read by, the walks
over ops, and the builder. Other files of `tgdialect.ops` are imported by their names.
"""

# ruff: noqa: E402, F401, F403
# pyright: reportUnusedImport=false

from tgdialect.ops.attributes import *
from tgdialect.ops.axis_types import *
from tgdialect.ops.call import *
from tgdialect.ops.codegen import *
from tgdialect.ops.elementwise import *
from tgdialect.ops.marker import *
from tgdialect.ops.memory import *
from tgdialect.ops.movement import *
from tgdialect.ops.multi import *
from tgdialect.ops.ordering import *
from tgdialect.ops.reduce import *
from tgdialect.ops.scan import *
from tgdialect.ops.source import *

# A star brings what a file imports as well: the classes of `tgdialect.ops` alone stay.
for _name, _value in [*globals().items()]:
    _is_ours = isinstance(_value, type) and _value.__module__.startswith("tgdialect.ops.")
    if not (_is_ours or _name.startswith("_")):
        del globals()[_name]

from tgdialect.ops.affine import Affine
from tgdialect.ops.arguments import (
    ALLOCATED,
    ANY_RESULT,
    NAME,
    argument_attributes,
    computed_attribute,
    data_attribute,
    dims_attribute,
    integer_attribute,
    name_attribute,
    result_attributes,
)
from tgdialect.ops.attributes import VOID, Device, is_process, is_tensor
from tgdialect.ops.base import PureInGraph, TgOp
from tgdialect.ops.builder import OpBuilder, UniquingBuilder
from tgdialect.ops.call import CallOp
from tgdialect.ops.codegen import is_shared_factor, warp_of
from tgdialect.ops.data_files import Contents, DataFileError, DataReader, FileData, array_of
from tgdialect.ops.dtypes import (
    BOOL,
    DTYPES,
    F32,
    I32,
    INDEX,
    TYPES,
    DType,
    dtype_row,
    number_attribute,
    round_to,
    unsigned,
    wrap_to,
)
from tgdialect.ops.elementwise import CompareOp, ElementwiseOp
from tgdialect.ops.intervals import Interval
from tgdialect.ops.movement import MovementOp, ResizeOp, WindowOp
from tgdialect.ops.ordering import dependent_ranges
from tgdialect.ops.properties import (
    Dim,
    Polynomial,
    Shape,
    UnknownDim,
    dtype_of,
    integer,
    integers,
    is_memory,
    is_type_written,
    known_index,
    mixed,
    number,
    place,
    place_of,
    polynomial,
    same_dim,
    same_shape,
    shape_of,
    show_shape,
    static_shape,
    tensor,
    tensor_type,
    type_of_number,
    window,
)
from tgdialect.ops.reduce import accumulated_dtype, identity
from tgdialect.ops.views import is_storage, memory_of
from tgdialect.ops.walk import (
    Computed,
    Walk,
    behind,
    computed,
    computed_from,
    nesting,
    operands_of,
    postorder,
    through,
    topological,
    users_of,
)
