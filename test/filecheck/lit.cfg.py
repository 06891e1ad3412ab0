"""
lit configuration: `lit test/filecheck`.

The tools are those of the Python that runs lit. `REQUIRES: mlir` skips a test where upstream's
mlir-opt and mlir-translate are not installed.
"""
# ruff: noqa: F821 - lit defines `config`

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import lit.formats

config.name = "tgdialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".uops"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)

# Tests compile what they say: nothing comes from the user's cache, or goes there.
config.environment["TG_CACHE_DIR"] = ""

# The tools run the package that a worktree's PYTHONPATH says, not the one that is installed.
config.environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")

_SEARCH_PATH = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])

# Debian adds LLVM's version to the names of its tools.
_TOOLS = {
    "tg-opt": ("tg-opt",),
    "tg-run": ("tg-run",),
    "xdsl-opt": ("xdsl-opt",),
    "filecheck": ("filecheck",),
    "mlir-opt": ("mlir-opt-19", "mlir-opt"),
    "mlir-translate": ("mlir-translate-19", "mlir-translate"),
}

# Tools in Python run in forks of a server that has imported them (warm_tools.py).
_WARM = os.path.join(os.path.dirname(__file__), "warm_tools.py")
_folder = tempfile.mkdtemp(prefix="tgdialect")
_socket = os.path.join(_folder, "socket")
_command = [sys.executable, _WARM, "serve", _socket]
_environment = {**os.environ, **config.environment}
_server = subprocess.Popen(_command, stdin=subprocess.PIPE, env=_environment)
while not os.path.exists(_socket) and _server.poll() is None:
    time.sleep(0.01)
# It ends with lit, whose workers have the other end of its standard input.
atexit.register(shutil.rmtree, _folder)
atexit.register(_server.communicate)

for _tool, _programs in _TOOLS.items():
    _found = (shutil.which(program, path=_SEARCH_PATH) for program in _programs)
    if (_path := next(filter(None, _found), None)) is not None:
        # A word of its own: neither `tools/tg-opt.py` nor the pass in `-p 'mlir-opt[cse]'`.
        if _tool in ("tg-opt", "tg-run", "filecheck", "xdsl-opt") and _server.poll() is None:
            _path = f"{sys.executable} -I -S {_WARM} {_socket} {_path}"
        config.substitutions.append((rf"(?<!\S){re.escape(_tool)}(?!\S)", _path))
        config.available_features.add(_tool)

if {"mlir-opt", "mlir-translate"} <= config.available_features:
    config.available_features.add("mlir")
