"""
lit configuration: `lit test/filecheck`.

The tools are those of the Python that runs lit. `REQUIRES: mlir` skips a test where upstream's
mlir-opt and mlir-translate are not installed. With `--param pattern_coverage=FOLDER` tests
write into the folder, also a file `.tmp.patterns` each: the counts of `tg-opt --pattern-coverage`.
"""
# ruff: noqa: F821 - lit defines `config` and `lit_config`

import os
import re
import shutil
import sys

import lit.formats

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))
from forked_tools import fork_tools

config.name = "tgdialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".uops"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

# Tests compile what they say: nothing comes from the user's cache, or goes there.
config.environment["TG_CACHE_DIR"] = ""

# The tools run the package that a worktree's PYTHONPATH says, not the one that is installed.
config.environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")

_FOLDER = os.path.dirname(sys.executable)
_SEARCH_PATH = os.pathsep.join([_FOLDER, os.environ.get("PATH", "")])
fork_tools(_FOLDER)

# Debian adds LLVM's version to the names of its tools.
_TOOLS = {
    "tg-opt": ("tg-opt",),
    "tg-run": ("tg-run",),
    "tg-compile": ("tg-compile",),
    "tg-reduce": ("tg-reduce",),
    "xdsl-opt": ("xdsl-opt",),
    "filecheck": ("filecheck",),
    "mlir-opt": ("mlir-opt-19", "mlir-opt"),
    "llvm-remarkutil": ("llvm-remarkutil-19", "llvm-remarkutil"),
    "mlir-translate": ("mlir-translate-19", "mlir-translate"),
}

_ARGUMENTS = {}
if (_folder := lit_config.params.get("pattern_coverage")) is not None:
    config.test_exec_root = os.path.abspath(_folder)
    _ARGUMENTS["tg-opt"] = " --pattern-coverage=%t.patterns"

config.substitutions.append(("%python", sys.executable))
for _tool, _programs in _TOOLS.items():
    _found = (shutil.which(program, path=_SEARCH_PATH) for program in _programs)
    if (_path := next(filter(None, _found), None)) is not None:
        # A word of its own: neither `tools/tg-opt.py` nor the pass in `-p 'mlir-opt[cse]'`.
        _command = _path + _ARGUMENTS.get(_tool, "")
        config.substitutions.append((rf"(?<!\S){re.escape(_tool)}(?!\S)", _command))
        config.available_features.add(_tool)

if {"mlir-opt", "mlir-translate"} <= config.available_features:
    config.available_features.add("mlir")
