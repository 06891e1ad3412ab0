"""Upstream's dialects of GPUs, as far as a tensor compiler needs them and xDSL 0.74 lacks them.

Names, properties and assembly are upstream MLIR's, so `mlir-opt` and `mlir-translate` read what is
printed, and we read what they print.

* `gpu.py`: the `gpu` dialect with `gpu.module` and `gpu.launch_func` in upstream's assembly;
* `registers.py`, `nvvm.py`, `rocdl.py`: what the GPUs of a vendor have beyond the `llvm` dialect;
* `target.py`: the attributes that name the chip of a `gpu.module`.

Source: MLIR's documentation of the dialects 'gpu', 'nvvm' and 'rocdl', as of LLVM 19.
"""

from tgdialect.gpu_dialect.gpu import GPU_WITH_GAPS, LaunchFuncOp, ModuleOp
from tgdialect.gpu_dialect.nvvm import NVVM
from tgdialect.gpu_dialect.rocdl import ROCDL
from tgdialect.gpu_dialect.target import ChipAttr, NVVMTargetAttr, ROCDLTargetAttr

__all__ = [
    "GPU_WITH_GAPS",
    "NVVM",
    "ROCDL",
    "ChipAttr",
    "LaunchFuncOp",
    "ModuleOp",
    "NVVMTargetAttr",
    "ROCDLTargetAttr",
]
