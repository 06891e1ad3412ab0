"""
Errors that name the file, line and column, and show the line with a caret.

* `locations.py`: source locations: how they are combined, and how errors show them;
* `diagnostic.py`: `Diagnostic`, `SourceFile`, `CompilationError`, and the handler that
  warnings and remarks go to; from an operation or an exception to the `Diagnostic` that reports it.
* `remarks.py`: the parts of a remark, and its forms on a terminal and in a file of YAML;
* `bounded_parser.py`: xDSL's parser, in which no short text takes long or much memory; `parser.py`
  records where each operation stands; names that survive copies.
* `actions.py`: what passes do, numbered, and how many of it they may do;
* `facts.py`: what is found once about operations that do not change.
* `verifier.py`: verification of a module, dominance included, that stops at one located error.

Below this layer is `fast_xdsl` only.
"""

# ruff: noqa: F403

from tgdialect.diagnostics.actions import *
from tgdialect.diagnostics.diagnostic import *
from tgdialect.diagnostics.facts import *
from tgdialect.diagnostics.locations import *
from tgdialect.diagnostics.parser import *
from tgdialect.diagnostics.remarks import *
from tgdialect.diagnostics.verifier import *
