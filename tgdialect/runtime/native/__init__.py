"""Code that stands between Python, or C, and compiled programs, in LLVM IR and in C.

* `launcher.ll`: checks the arguments of a call, and calls
* `pool.ll`: runs a loop on the threads of a pool
* `openmp.ll`: runs a loop on those of an OpenMP library
* `segment.ll`: exchanges values with other processes through memory, with
* `reduce.ll`: a reduction of the values of all
* `peaks.ll`: what measures the peak speeds of a CPU; `clock.ll`: the clock of profiles,
  and `timed.ll`: a kernel that is timed by it
* `trial.ll`: what LLVM compiles first, which is never called
* `library.h`, `library.c`: a program as a function of C, with `threads.c`: the threads of its loops
"""

from __future__ import annotations

from importlib.resources import files
from string import Template


def native_text(file: str, /, **values: object) -> str:
    """A file of this folder, with a value substituted for each `${NAME}`."""
    return Template((files(__name__) / file).read_text("utf-8")).substitute(values)


def native_ir(name: str, **values: int | str) -> str:
    """The LLVM IR of a file of this folder."""
    return native_text(f"{name}.ll", **values)
