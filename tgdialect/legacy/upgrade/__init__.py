"""`tg-upgrade-legacy`: from the older vocabularies to the ops of the specification.

* `stage.py`: the pass, and the function that calls the kernel of a listing;
* `kernel.py`: a kernel as the graph of a `tg.kernel`: its ops are in order (`ordered.py`), in
  blocks, or a graph;
* `memory.py`: which version of memory an access sees; `loops.py`: what ops and loops access, and
  loops that reduce;
* `arithmetic.py`: values, integers as indices, and UNROLL as shape;
* `graphs.py`: programs on tensors; `views.py`: ShapeTrackers, and values in other shapes;
  `launches.py`: KERNEL as a call.
"""
