"""The plan of a function: which values get a buffer, and the loops of each kernel.

In reading order:

* `plan.py`: the plan, and its attributes on ops;
* `fusion.py`: the walk that decides which values are stored, kept locally, or computed again;
* `demand.py`: the elements that an element is computed from, and what computing it costs;
* `contractions.py`: which reductions are long, and which are products of matrices; the masks of
  sums of which one term is left;
* `padding.py`: which padded operands of reductions a copy pays for;
* `online.py`: sums of exponentials that one pass over blocks of steps can compute, as an attention,
  and `online_recognition.py` finds them;
* `online_blocks.py`: the sizes of these blocks, and whether they pay;
* `loop_order.py`: the loops around the root of a kernel, their order and splits;
* `axis_orders.py`: the order in which buffers have their axes.
"""
