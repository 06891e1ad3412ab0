"""Analyses of index arithmetic, which read affine sums (`ops/affine.py`) from the IR.

* `positions.py`: positions along an axis, as sums of digits of loop variables;
* `movement.py`: the index in the source of a movement op, given the index in its result;
* `views.py`: chains of movement ops as affine views of their source, such as windows;
* `bounds.py`: bounds of polynomials in RANGEs, each of which is less than its own bound;
* `bits.py`: the stride in memory of each bit of a coordinate, for the fragments of WMMAs;
* `strides.py`: the stride of a memory access in each range;
* `cell_positions.py`: the cell of a location as positions in loops, the normal form of accesses;
* `cells.py`: the numbers of the cells of an access, as polynomials;
* `lanes.py`: vectors of indices, and the vector loads that cover them.
"""
