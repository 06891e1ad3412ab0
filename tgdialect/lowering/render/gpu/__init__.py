"""The `gpu` dialect as an output: kernels of the `llvm` dialect in a `gpu.module`, and launches.

* `vendors.py`: the table of what NVIDIA and AMD spell differently;
* `matrix.py`: WMMA by the matrix instructions of each;
* `shuffles.py`: SHUFFLE by theirs;
* `kernel.py`: a program as the function of a work item;
* `host.py`: the function that launches the kernels;
* `program.py` renders the symbols of a module.
"""

from tgdialect.gpu_dialect.gpu import CONTAINER_MODULE
from tgdialect.lowering.render.gpu.program import render_symbols

__all__ = ["CONTAINER_MODULE", "render_symbols"]
