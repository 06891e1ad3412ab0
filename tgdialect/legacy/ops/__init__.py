"""The ops of the older vocabularies, in the families of the UOp Summary.

* `framework.py`: graphs, kernels and devices; `constants.py`; `indexing.py`: views and locations;
* `movement.py`: PAD and SHRINK by pairs of numbers;
* `memory.py`: buffers, LOAD and STORE; `compute.py`: ALU, divisions, reductions, WMMA;
* `control.py`: loops, accumulators and conditions; `vectors.py`; `blocks.py`.
"""
