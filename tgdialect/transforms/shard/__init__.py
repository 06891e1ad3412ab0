"""Programs on several devices.

* `grids.py`: the tuples of devices of a program; `collectives.py`: the ops that move data between
  devices;
* `propagate.py`, `tg-shard`, by means of `elimination.py`: from annotations to a sharding of each
  value;
* `lower.py`, `tg-lower-shards`: from values on several devices to the program of each device;
  `extents.py`: the extents that it is passed;
* `raise_collectives.py`, `tg-raise-collectives`, by means of `factors.py`: compositions of
  collectives as one;
* `split.py`, `tg-split-collectives`: from one function to what is computed between collectives;
* `mesh.py`, `tg-shard-to-mesh`: the names that LLVM 19 has for the `shard` dialect.
"""
