"""Tools that look at passes from outside, and find the step that broke a program by running what
it makes.

* `listening.py`: a listener for the actions of our passes (`tgdialect/diagnostics/actions.py`) and
  of any that use xDSL's `PatternRewriter`;
* `compare.py`: the first value in which two runs differ;
* `execution.py`: the meaning of a module, on the interpreters; `slopes.py`: that of its gradient;
* `predicate.py`: whether a module still shows a failure: by a command, or by its meaning;
* `bisect.py`: the first action after which a program is wrong; `judges.py`: what says that it is;
* `reduce/`: the smallest module that shows a failure; `smallest.py`: the one that an action breaks;
* `check.py`: `check=True`, which compares each kernel with the interpreter; `comparison.py` judges
  two results by the bound of their difference, and `references.py` makes what a kernel is compared
  with;
* `coverage.py`: which patterns fire, counted in a file;
* `children.py`: work in a process of its own.
"""
