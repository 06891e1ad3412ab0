"""`.uops` files: numbered listings of UOps, as tinygrad has printed them in all its ages.

A listing without a title is tinygrad's, one with a title is our own.

* `reader.py`: from a file to a module; it reads tinygrad's; `lines.py`: from text to listings and
  their lines;
* `dtypes.py`: the dtype column; `values.py`: arguments as Python prints them;
* `builders.py` is the table of tinygrad's ops: the sources of each and the ops that it becomes;
  `arguments.py` and `program.py` (loops, and dtypes that are not written) serve it;
* `titled.py` prints our own, `tg-opt -t uops`, and reads them; `attributes.py` is the arguments of
  ops both ways.
"""
