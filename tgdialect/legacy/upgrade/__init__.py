"""`tg-upgrade-legacy`: from the older vocabularies to the ops of the specification.

* `stage.py`: the pass; `host.py`: the function that calls the kernel of a listing;
* `kernel.py`: a kernel as the graph of a `tg.kernel`: its ops are in order (`ordered.py`), in
  blocks, or a graph (`unordered.py`);
* `memory.py`: which version of memory an access sees; `accesses.py`, `loops.py`: what ops and loops
  access; `accumulators.py`: loops that reduce;
* `arithmetic.py`: values, and integers as indices; `shapes.py`: values in other shapes;
  `unrolled.py`: UNROLL as shape; `wmma.py`;
* `graphs.py`: programs on tensors; `views.py`: ShapeTrackers; `launches.py`: KERNEL as a call.
"""
