"""The stages from tensors to the `llvm` dialect, in the order in which they run:

* `callify/`: functions on tensors become functions on memory;
* `rangeify/`: functions become kernels, and tensor ops become loops;
* `optimize/`: schedules for the loops;
* `expand/`: unrolled and vectorised loops become axes of values;
* `select/`: only ops and vector widths of the target remain;
* `linearize.py`: one order of execution;
* `plan.py`: buffers share storage;
* `render/`: programs become functions of the `llvm` dialect.

Shared by the stages:

* `levels.py`: the base class of stages; `verify/`: what each level may hold;
* `signature.py`: attributes that describe a function's arguments;
* `pipeline.py`: the stages as data, and the named pipelines.
"""
