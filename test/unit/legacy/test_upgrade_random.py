"""Random listings do after `tg-upgrade-legacy` what a sequential machine does with them.

A failure prints the listing and the call of `random_listing` that makes it; CONTRIBUTING.md says
how to try many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from compiling import compile_module
from random_listings import UNSIZED_CELLS, Listing, random_listing
from random_seeds import batches
from reproduced import check_program
from sequential_machine import Array, Machine
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import verify_module
from tgdialect.interpreter import run
from tgdialect.legacy.upgrade.stage import upgrade
from tgdialect.lowering.verify import verify_level
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.dtypes import F32
from tgdialect.ops.properties import tensor

EXACT = 2.0**20
"""Sums of whole floats below it are exact in any order."""

EXECUTORS: Mapping[str, Callable[[ModuleOp, Sequence[Any]], Any]] = {
    "interpreter": lambda module, inputs: run(module, "main", inputs),
    "none": lambda module, inputs: compile_module(module, opt="none")(*inputs),
    "heuristic": lambda module, inputs: compile_module(module, opt="heuristic")(*inputs),
}


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_LISTINGS", 50), ids=str)
def test_order_survives(seeds: range):
    for seed in seeds:
        listing = random_listing(seed)

        def wrong(module: ModuleOp, _: object, listing: Listing = listing, seed: int = seed) -> str:
            return difference(replace(listing, module=module), seed)

        again = "tg-opt -p tg-upgrade-legacy"
        check_program(wrong, f"random_listing({seed})", listing.module, again=again, entry=None)


def difference(listing: Listing, seed: int) -> str:
    """Where an executor does not what the machine does."""
    verify_module(listing.module)
    module = listing.module.clone()
    where = "upgrade"
    try:
        upgrade(module)
        verify_module(module)
        _verify_level(module)
        call = Call(listing, module, seed)
        expected = {name: array.copy() for name, array in call.memory.items()}
        machine = Machine(ops_of(listing.module), expected, listing.variables)
        machine.run()
        if machine.largest > EXACT:
            return ""
        for where, execute in EXECUTORS.items():
            for name, array in call.run(execute).items():
                wanted = expected[name][: array.size]
                if not np.array_equal(array, wanted):
                    return f"{where}: {name} is\n{array}, not\n{wanted}"
    except Exception as error:
        return f"{where}: {type(error).__name__}: {error}"
    return ""


def ops_of(module: ModuleOp) -> Sequence[Operation]:
    """The ops of the program of a listing."""
    (program,) = module.ops
    assert isinstance(program, ProgramOp)
    return list(program.linear.body.block.ops)


def _verify_level(module: ModuleOp) -> None:
    try:
        verify_level(module, "kernels")
    except VerifyException:
        verify_level(module, "tiles")


class Call:
    """A call of the function of a listing."""

    def __init__(self, listing: Listing, module: ModuleOp, seed: int) -> None:
        self.module = module
        self.variables = listing.variables
        self.memory = initial(listing, seed)
        (main,) = (op for op in module.ops if isinstance(op, FuncOp))
        self.arguments = {str(value.name_hint): value for value in main.args}
        marks = main.arg_attrs or [DictionaryAttr({})] * len(main.args)
        pairs = zip(self.arguments, marks, strict=True)
        self.outputs = [name for name, attributes in pairs if "tg.output" in attributes.data]
        for name in self.outputs:
            self.memory[name][:] = 0

    def run(self, execute: Callable[[ModuleOp, Sequence[Any]], Any]) -> Mapping[str, Array]:
        """What the arguments point to afterwards."""
        inputs: dict[str, Any] = {}
        for name, value in self.arguments.items():
            if name in self.variables:
                inputs[name] = np.int64(self.variables[name])
            elif name not in self.outputs:
                inputs[name] = self.memory[name][: tensor(value).get_shape()[0]].copy()
        results = execute(self.module.clone(), list(inputs.values()))
        results = results if isinstance(results, tuple | list) else [results]
        changed = {name: array for name, array in inputs.items() if name not in self.variables}
        return changed | dict(zip(self.outputs, results, strict=bool(self.outputs)))


def initial(listing: Listing, seed: int) -> dict[str, Array]:
    """What the DEFINE_GLOBALs point to at first."""
    numbers = np.random.default_rng(seed)
    memory: dict[str, Array] = {}
    for name, (dtype, size) in listing.buffers.items():
        size = size or UNSIZED_CELLS
        values = numbers.integers(-3, 4, size)
        if dtype != F32:
            values = np.where(
                numbers.random(size) < 0.2, numbers.integers(-(2**31), 2**31, size), values
            )
        memory[name] = values.astype(np.float32 if dtype == F32 else np.int32)
    return memory
