"""tinygrad's UOps as an MLIR-style dialect and compiler, on xDSL.

`compile` makes an executable of a program, `load` of a file that is compiled; `Executable` is what
they make. The dialect is `tgdialect.dialect.TG`. Names are imported when they are first used, so
that tools start quickly.

From the lowest layer to the highest:

* `diagnostics/`: errors that name file, line and column;
* `ops/`: the ops, types and attributes of the dialect, and their derived properties;
* `targets/`: descriptions of processors;
* `analysis/`: read-only analyses;
* `work_items/`: races of the work items of a grid, and the BARRIERs that they need;
* `transforms/`: rewrites from `tg` to `tg` at one level;
* `dialect.py`: the dialect, with its canonicalisation patterns;
* `lowering/`: the eight stages from tensors to code;
* `llvm_dialect/`, `gpu_dialect/`, `shard_dialect/`: operations that xDSL's dialects lack;
* `backends/`: LLVM IR text, object code, tinygrad's listing;
* `runtime/`: loading, calling, caching and timing of compiled programs;
* `kernels/`: kernels that are written by hand, as a radix sort;
* `frontend/`: `Tensor`, `@function` and gradients; `nn/`: layers and optimizers;
* `collectives.py`: the seven collectives, on tensors;
* `compilation.py`: the public `compile`; `custom.py`: the functions that its caller registers;
* `interpreter/`: the reference semantics, in NumPy;
* `plugin.py`: what a plug-in adds; `input_formats.py`: the base classes of input formats;
* `universe.py`: all that this package has for xDSL's tools; `registry.py`: all that is installed,
  and how other vocabularies become `tg`;
* `actions/`: finding what the compiler does wrong: bisection, reduction, `check=True`;
* `tools/`: `tg-opt` and `tg-run`; `info.py`: `python -m tgdialect.info`; `calibrate.py`: the rates
  of this machine;
* `legacy/`: a plug-in: the older vocabularies of the same system;
* `interop/`: plug-ins: importers of other vocabularies;
* `environment.py`: the table of environment variables;
* `platforms.py`: refuses platforms that are not supported;
* `forking.py`: locks around `fork`;
* `fast_xdsl/`: code in place of xDSL's, for speed alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tgdialect.forking import prepare_for_forks
from tgdialect.platforms import check_platform

if TYPE_CHECKING:
    from tgdialect import collectives, nn
    from tgdialect.compilation import compile
    from tgdialect.diagnostics import CompilationError
    from tgdialect.frontend import dtypes
    from tgdialect.frontend.function import function
    from tgdialect.frontend.loops import cond, scan, while_loop
    from tgdialect.frontend.lowered import spec
    from tgdialect.frontend.symbolic import Variable
    from tgdialect.frontend.tensor import Tensor
    from tgdialect.runtime.devices.array import DeviceArray
    from tgdialect.runtime.devices.device import DEVICES as Device
    from tgdialect.runtime.devices.driver import DeviceError
    from tgdialect.runtime.distributed.array import ShardedArray
    from tgdialect.runtime.distributed.exchange import RankError
    from tgdialect.runtime.executable import Executable
    from tgdialect.runtime.program_file import load

__version__ = "0.9.0"  # That of `pyproject.toml`: to look it up takes longer than the import.

__all__ = [
    "CompilationError",
    "Device",
    "DeviceArray",
    "DeviceError",
    "Executable",
    "RankError",
    "ShardedArray",
    "Tensor",
    "Variable",
    "collectives",
    "compile",
    "cond",
    "dtypes",
    "function",
    "load",
    "nn",
    "scan",
    "spec",
    "while_loop",
]

_HOMES = {
    "CompilationError": "tgdialect.diagnostics",
    "Device": "tgdialect.runtime.devices",
    "DeviceArray": "tgdialect.runtime.devices",
    "DeviceError": "tgdialect.runtime.devices",
    "RankError": "tgdialect.runtime.distributed",
    "ShardedArray": "tgdialect.runtime.distributed",
    "Executable": "tgdialect.runtime.executable",
    "Tensor": "tgdialect.frontend.tensor",
    "Variable": "tgdialect.frontend.symbolic",
    "function": "tgdialect.frontend.function",
    "cond": "tgdialect.frontend.loops",
    "scan": "tgdialect.frontend.loops",
    "while_loop": "tgdialect.frontend.loops",
    "spec": "tgdialect.frontend.lowered",
    "compile": "tgdialect.compilation",
    "load": "tgdialect.runtime.program_file",
}

_MODULES = {
    "collectives": "tgdialect.collectives",
    "dtypes": "tgdialect.frontend.dtypes",
    "nn": "tgdialect.nn",
}

check_platform()
prepare_for_forks()  # Before another thread may be importing the rest.


def __getattr__(name: str) -> Any:
    from tgdialect.runtime.speed import imported

    if (module := _MODULES.get(name)) is not None:
        return imported(module)
    if (home := _HOMES.get(name)) is None:
        raise AttributeError(f"module 'tgdialect' has no attribute {name!r}")
    return getattr(imported(home), name)


def __dir__() -> list[str]:
    return __all__
