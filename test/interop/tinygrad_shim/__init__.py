"""A package named `tinygrad` that maps tinygrad's public names to ours.

tinygrad's own tests run on it unmodified: `install` puts it into `sys.modules`, and nothing of
tinygrad is imported. What is not mapped becomes an `Internal`, which can be imported and named, and
whose use ends the test with `UsesInternals`.

* `internals.py`: those names;
* `helpers.py`: `tinygrad.helpers`, settings and small functions of Python;
* `dtypes.py`: `tinygrad.dtypes`; `devices.py`: `tinygrad.Device`;
* `tensors.py`: methods by which tinygrad's `Tensor` differs from ours;
* `jit.py`: `TinyJit` and `function`; `variables.py`: `Variable`;
* `modules.py`: the modules of the package, by their names.
"""

from tinygrad_shim.internals import UsesInternals
from tinygrad_shim.modules import install

__all__ = ["UsesInternals", "install"]
