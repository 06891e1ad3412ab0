"""Make the inputs of an example, as .npy files that are named after its parameters.

    python examples/inputs.py examples/softmax.mlir -d /tmp/inputs
    tg-run examples/softmax.mlir --input /tmp/inputs/x.npy

The shapes and dtypes are those of the file's function; the values depend on the seed only. Floats
are normal; integers are indices into the first axis of the first input, or small if there is none.
"""

import argparse
import os
import sys
from collections.abc import Sequence

import numpy as np

from tgdialect.diagnostics import CompilationError
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.compiler import load_module
from tgdialect.tools.tg_run_session import find_entry, find_parameters
from tgdialect.tools.tg_run_values import ProgramInput


def make_input(parameter: ProgramInput, seed: int, extent: int) -> Array:
    """An array for a parameter; integers are below `extent`."""
    rng = np.random.default_rng([seed, parameter.position])
    shape = parameter.type.get_shape()
    if parameter.dtype.is_float:
        values = rng.standard_normal(shape)
    else:
        values = rng.integers(0, 2 if parameter.dtype.is_bool else extent, shape)
    return np.asarray(values).astype(numpy_dtype(parameter.dtype))


def main(args: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", help="the example")
    parser.add_argument("-d", "--directory", default=".", help="where the files go (default: .)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--entry", help="the function (default: main, or the only one)")
    options = parser.parse_args(args)
    try:
        module = load_module(options.file)
        parameters = find_parameters(find_entry(module, options.entry))
    except CompilationError as error:
        print(error, file=sys.stderr)
        return 1
    os.makedirs(options.directory, exist_ok=True)
    first = next(iter(parameters), None)
    extent = (*(first.type.get_shape() if first else ()), 10)[0]
    for parameter in parameters:
        if not parameter.type.has_static_shape():
            print(f"{parameter.label}: the shape is dynamic", file=sys.stderr)
            return 1
        path = os.path.join(options.directory, f"{parameter.name or parameter.position}.npy")
        np.save(path, make_input(parameter, options.seed, extent))
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
