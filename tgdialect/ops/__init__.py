"""The ops of the `tg` dialect.

One file per family of the specification:

* `source.py`, `movement.py`, `elementwise.py`, `reduce.py`, `memory.py`, `ordering.py`;
* `call.py`, `scan.py`, `marker.py`, `multi.py`, `codegen.py`.

`families.py` lists them; `tg.py` is the dialect as a namespace: `tg.AddOp`, `tg.shape_of`.

What ops are declared with:

* `attributes.py`: types and attributes; `dtypes.py`: dtypes; `axis_types.py`: AxisTypes;
* `base.py`: the class of all ops;
* `syntax.py`: pieces of assembly formats;
* `instructions.py`: the types of the instructions that INS names;
* `sorts.py`: the CUSTOMFUNCTIONs that are built in;
* `properties/`: the rules by which result types are inferred;
* `canonicalization.py`: the link from an op to its canonicalisation patterns.

What rewrites and analyses build on:

* `builder.py`: insertion with a location, and clones;
* `numbering.py`: the next free slot, axis id or symbol name; the key of an op in value numbering;
* `walk.py`: walks of graphs and blocks: slices, users, chains of views, the blocks around ops;
* `views.py`: the cells that a view shows; `arguments.py`: attributes of function arguments;
* `arrays.py`: NumPy arrays of the dtypes; `numpy_dtypes.py`: NumPy's dtypes by name;
* `folding.py`: constant folding; `intervals.py`: interval arithmetic;
* `affine.py`: sums of integers with coefficients; `expressions.py`: index arithmetic as data;
* `operators.py`: Python's operators as ops, for rules, recipes and hand-written kernels;
* `data_files.py`: bytes of files, as contents of BINARYs;
* `printing.py`: the text of a module, and the devices that it names.
"""
