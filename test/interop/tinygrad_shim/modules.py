"""The modules of the package named `tinygrad`."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import tgdialect as tg
from tgdialect.nn import layers, state
from tinygrad_shim import devices, dtypes, helpers, jit, tensors, variables
from tinygrad_shim.internals import Internal, Invalid, UsesInternals

BATCH_NORMS = "BatchNorm", "BatchNorm2d", "BatchNorm3d"


def _public(module: ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


@cache
def _names() -> dict[str, dict[str, Any]]:
    """The names that are mapped, by module."""
    nn = {name: getattr(layers, name) for name in dir(layers) if name[0].isupper()}
    counters = helpers.counters()
    return {
        "tinygrad": {
            **{"Tensor": tg.Tensor, "TinyJit": jit.TinyJit, "function": jit.function},
            **{"Variable": variables.Variable, "UOp": variables.UOp, "dtypes": dtypes.dtypes},
            **{"Device": devices.Device, "Context": helpers.Context, "getenv": helpers.getenv},
            "GlobalCounters": counters,
        },
        "tinygrad.tensor": {"Tensor": tg.Tensor, "_to_np_dtype": dtypes.to_numpy},
        "tinygrad.dtype": {
            **_public(dtypes),
            "Invalid": Invalid("Invalid"),
            "_to_np_dtype": dtypes.to_numpy,
            "_to_torch_dtype": dtypes.to_torch,
        },
        "tinygrad.device": {"Device": devices.Device},
        "tinygrad.runtime.ops_python": {"from_storage_scalar": dtypes.from_storage_scalar},
        "tinygrad.helpers": {**_public(helpers), "GlobalCounters": counters},
        "tinygrad.engine.jit": {"TinyJit": jit.TinyJit, "JitError": jit.JitError},
        # The tensors of a schedule are computed already (`check_schedule` in tinygrad_plugin.py).
        "tinygrad.engine.realize": dict.fromkeys(("run_linear", "compile_linear"), helpers.nothing),
        "tinygrad.function": {"function": jit.function},
        "tinygrad.uop.ops": {
            **{"UOp": variables.UOp, "Variable": variables.Variable},
            "sym_infer": variables.sym_infer,
        },
        "tinygrad.nn": nn | dict.fromkeys(BATCH_NORMS, tensors.BatchNorm),
        "tinygrad.nn.optim": tensors.optimizers(),
        "tinygrad.nn.datasets": dict.fromkeys(("mnist", "cifar"), helpers.fetch),
        "tinygrad.nn.state": _public(state),
    }


class _Module(ModuleType):
    """A module with the mapped names; any other one is an `Internal`."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_mapped = name in vars(self) or isinstance(value, ModuleType)
        if not is_mapped and isinstance(getattr(self, name, None), Internal):
            raise UsesInternals(f"{self.__name__}.{name}")  # It is replaced, to see its calls.
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if (module := f"{self.__name__}.{name}") in _names():
            return import_module(module)
        if self.__name__ == "tinygrad.helpers" and name.isupper():
            return helpers.variable(name)
        return Internal(f"{self.__name__}.{name}")


class _Finder(MetaPathFinder, Loader):
    """Finds every module of `tinygrad`."""

    def __init__(self) -> None:
        self.names = _names()

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "tinygrad":
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self.names.get(module.__name__, {}))


def install() -> None:
    """Make `import tinygrad` import this package, and extend our classes by tinygrad's names."""
    dtypes.extend_dtype()
    variables.extend_variable()
    tensors.extend_tensor()
    devices.extend_devices()
    sys.meta_path.insert(0, _Finder())
