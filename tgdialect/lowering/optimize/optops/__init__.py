"""OptOps: what each does to the ranges of a kernel, and when it is legal. In reading order:

* `tc.py` is TC, matrix instructions;
* `split.py` is SPLIT, `padto.py` PADTO;
* `order.py` is SWAP and ORDER, also of the loop of a REDUCE around the loops that it is in;
* `merge.py` is MERGE, `stage.py` STAGE, and `prepack.py` STAGE in global memory; `tile_loads.py`
  says which LOADs of a tile those two may copy, and `boxes.py` is STAGE of what TC has split;
* `pipeline.py` is PIPELINE, of the copies that STAGEs have made;
* `apply.py` applies, records and parses OptOps, and has NOLOCALS; `passes.py` has each as a pass.
"""
