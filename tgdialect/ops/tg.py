"""The ops, types and attributes of the dialect as one namespace: `tg.AddOp` is `tg.add`."""

# ruff: noqa: F403

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
