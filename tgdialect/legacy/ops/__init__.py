"""The ops of the older vocabularies, in the families of the UOp Summary.

* `framework.py`: graphs, kernels and devices; `indexing.py`: views, locations, PAD and SHRINK;
* `memory.py`: buffers, LOAD and STORE; `compute.py`: ALU, divisions, reductions, WMMA;
* `control.py`: loops, accumulators, conditions and blocks; `vectors.py`: constants and vectors.
"""
