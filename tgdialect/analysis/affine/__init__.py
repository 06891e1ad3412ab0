"""What index arithmetic comes to: affine sums (`ops/affine.py`) read from the IR.

* `positions.py`: positions along an axis, as sums of digits of loop variables;
* `movement.py`: what a movement op does to the positions at which it is read;
* `bounds.py`: the least and the greatest value of polynomials, RANGEs being less than their bounds;
* `strides.py`: how far apart in memory the iterations of each range access;
* `lanes.py`: the indices in a vector.
"""
