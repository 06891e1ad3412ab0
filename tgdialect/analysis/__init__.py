"""Analyses: they read IR and change none. In reading order:

Graphs and loops:

* `symbols.py`: which symbols of a module are the dialect's;
* `structure.py`: blocks as values that compare equal if they do the same;
* `ranges.py`: the live ops of a graph, the RANGEs that each is in, and those that choose registers;
* `loop_nest.py`: the loop nest of a kernel, and an order of execution;
* `memory_order.py`: the order that versions of memory ask for;
* `overwriting.py`: whether a kernel reads what it overwrites in time, in any order of iterations;
* `liveness.py`: live ranges of the buffers of a LINEAR;
* `in_place.py`: which parameters may be the same memory;
* `constants.py`: what depends on constant arguments alone;
* `eviction.py`: which results no cache holds any more when a program ends;
* `data_files.py`: the files whose bytes a module names;
* `features.py`: counts of what a loop nest does and moves; `cycles.py`: the time that they take;
* `launches.py`: both of them for workgroups of a grid;
* `limits.py`: a bound of compile time that analyses share;
* `estimates.py`: floating-point operations and bytes of a kernel;
* `communication.py`: bytes and time of collectives between devices.

Values:

* `affine/`: index arithmetic as sums of loop variables: positions, bounds, strides, lanes;
* `min_max.py`: intervals of values, and the capacity of storage of dynamic shape;
* `divisors.py`: what divides an index;
* `index_expressions.py`: extents as expressions in index arguments;
* `conditions.py`: what a true or a false condition implies;
* `validity.py`: which values may have invalid cells;
* `zeros.py`: the sign of zero in sums;
* `sparsity.py`: where trees of elementwise ops are zero.

Reductions:

* `one_hot.py`: sums with a one-hot mask, which become loads;
* `index_sets.py`: where a loop falls into parts in which its conditions are decided;
* `parts.py`: into how many parts long reductions and scans are divided.
"""
