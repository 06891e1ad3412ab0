"""The `gpu` dialect as an output: kernels of the `llvm` dialect in a `gpu.module`, and launches.

* `vendors.py`: what NVIDIA and AMD spell differently: WMMA, SHUFFLE, and the table of the rest;
* `kernel.py`: a program as the function of a work item;
* `program.py` renders the symbols of a module, of which functions launch the kernels.
"""

from tgdialect.gpu_dialect.gpu import CONTAINER_MODULE
from tgdialect.lowering.render.gpu.program import render_symbols

__all__ = ["CONTAINER_MODULE", "render_symbols"]
