"""lit configuration: `lit examples` runs the RUN lines of the examples."""
# ruff: noqa: F821 - lit defines `config` and `lit_config`

import os

_HERE = os.path.dirname(os.path.abspath(__file__))

lit_config.load_config(config, os.path.join(_HERE, "..", "test", "filecheck", "lit.cfg.py"))
config.name = "tgdialect examples"
config.test_source_root = _HERE
config.suffixes = [".mlir"]
