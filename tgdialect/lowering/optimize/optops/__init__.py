"""OptOps: what each does to the ranges of a kernel, and when it is legal. In reading order:

* `tc.py` is TC, matrix instructions;
* `split.py` is SPLIT, `padto.py` PADTO, `order.py` SWAP and ORDER, `nolocals.py` NOLOCALS;
  `workgroups.py` counts the work items that they make;
* `accumulate.py` is ORDER of the loop of a REDUCE around the loops that it is in;
* `merge.py` is MERGE, `stage.py` STAGE, and `prepack.py` STAGE in global memory; `tile_loads.py`
  says which LOADs of a tile those two may copy, `wide_cells.py` which of their cells are copied as
  one integer, and `boxes.py` is STAGE of what TC has split;
* `pipeline.py` is PIPELINE, of the copies that STAGEs have made;
* `apply.py` applies, records and parses OptOps, and `passes.py` has each as a pass.
"""
