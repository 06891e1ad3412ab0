"""`tg-upgrade-legacy`: from the older vocabularies to the ops of the specification.

* `stage.py`: the pass, and the function that calls a kernel;
* `kernel.py`: a kernel whose ops are in order (a listing, or blocks) becomes a graph;
* `memory.py`: which version of memory an access sees; `accumulators.py`: loops that reduce;
* `numbers.py`: arithmetic, and integers as indices; `sizes.py`: how large a pointer's memory is;
* `graphs.py`: programs on tensors; `views.py`: ShapeTrackers.
"""
