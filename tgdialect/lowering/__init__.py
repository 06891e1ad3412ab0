"""The stages from tensors to code, in the order in which they run:

* `callify/`: functions on tensors become functions on memory;
* `rangeify/`: functions become kernels, and tensor ops become loops;
* `optimize/`: schedules for the loops;
* `expand/`: unrolled and vectorised loops become axes of values;
* `select/`: only ops and vector widths of the target remain;
* `linearize/`: one order of execution, and for grids the program of a work item;
* `plan.py`: buffers share storage;
* `render/`: programs become functions of the `llvm` or `gpu` dialect, or sources.

Shared by the stages:

* `levels.py`: the base class of stages; `verify/`: what each level may hold;
* `passed_memory.py`: memory that callers pass to kernels, and parameters that these lose;
* `packing.py`: packed copies of parameters, which kernels that run before store;
* `recomputation.py`: expressions that are computed again for other iterations of loops;
* `kernel_memory.py`: buffers of kernels, versions of them, and effects;
* `linear_blocks.py`: the loops and IFs of a LINEAR;
* `overwritten_memory.py`: copies of what a kernel overwrites before it has read it;
* `matrix_products.py`: products that matrix instructions compute, and the bits of their fragments;
* `lacking.py`: which feature an op needs that a target lacks, and the instructions that it has;
* `signature.py`: attributes that describe a function's arguments;
* `pipeline.py`: the stages as data, and the named pipelines.
"""
