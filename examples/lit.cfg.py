"""lit configuration: `lit examples` runs the RUN lines of the examples."""
# ruff: noqa: F821 - lit defines `config` and `lit_config`

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))

lit_config.load_config(config, os.path.join(_HERE, "..", "test", "filecheck", "lit.cfg.py"))
config.name = "tgdialect examples"
config.test_source_root = _HERE
config.suffixes = [".mlir"]

# The tools of the package in `embed`, which is not installed.
_EMBED = os.path.join(_HERE, "embed")
_PATH = os.pathsep.join([_EMBED, config.environment["PYTHONPATH"]])
_PYTHON = f"env PYTHONPATH={_PATH} {sys.executable}"
config.substitutions += [
    ("%python", sys.executable),
    ("%verify-llvm", f"{sys.executable} {os.path.join(_HERE, '..', 'test', 'verify_llvm.py')}"),
    (r"(?<!\S)img-opt(?!\S)", f"{_PYTHON} -m imgc.opt"),
    (r"(?<!\S)img-run(?!\S)", f"{_PYTHON} -m imgc.run"),
]
