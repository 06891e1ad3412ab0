"""Jobs that watch what a compiler does: each is a module, whose command line is in `tools`.

* `check.py`: `check=True`, which compares each kernel with the interpreter; `comparison.py` judges
  two results by the bound of their difference; `references.py` makes what a kernel is compared
  with.
"""
