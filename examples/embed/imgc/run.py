"""`img-run PROGRAM.mlir [IMAGE.npy ...]`: compile a program and call it on images."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any
from zipfile import BadZipFile

import numpy as np
from xdsl.passes import PassPipeline

import tgdialect as tg
from imgc.universe import IMG_UNIVERSE, register_dialects
from tgdialect.diagnostics import errors_in, parse_module, read_source, verify_module
from tgdialect.registry import make_context, universe

PIPELINE = "img-to-tg,tg-callify,tg-rangeify"
"""Our lowering, then stages of tgdialect up to kernels: `tg.compile` does the rest."""


def compile(path: str) -> Callable[..., Any]:
    """The function `main` of a program, on NumPy arrays. Raises `tg.CompilationError`."""
    source = read_source(path)
    context = make_context()
    register_dialects(context)
    passes = universe().all_passes | IMG_UNIVERSE.all_passes
    with errors_in(source):
        module = parse_module(context, source)
        verify_module(module)
        PassPipeline.parse_spec(passes, PIPELINE).apply(context, module)
        return tg.compile(module)


def main(args: Sequence[str] | None = None) -> int:
    """Print what a program makes of images; the exit code."""
    parser = argparse.ArgumentParser(prog="img-run", description=__doc__)
    parser.add_argument("program", help="MLIR text with a function main")
    parser.add_argument("images", nargs="*", metavar="IMAGE.npy", help="its arguments")
    options = parser.parse_args(args)
    try:
        results = compile(options.program)(*map(np.load, options.images))
    except (tg.CompilationError, BadZipFile, EOFError, OSError, TypeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    for result in results if isinstance(results, tuple) else (results,):
        print(np.array2string(result, precision=3, threshold=64))
    return 0


if __name__ == "__main__":
    sys.exit(main())
