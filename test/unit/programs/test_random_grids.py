"""Random programs agree on a grid. The interpreter runs its workgroups, and reports races and
accesses that are out of bounds; the cpu runs them as loops; OpenCL runs them on PoCL, or the device
that TG_TEST_DEVICE names. No GPU is needed.

CONTRIBUTING.md says how to try many.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from random import Random

import pytest
from agreement import differences, identical
from executors import (
    Executor,
    interpret,
    lowered_for_grid,
    on_grid,
    on_opencl,
    run_grid,
    run_grid_on_cpu,
    target_for,
)
from large_programs import large_program
from opencl_device import needs_opencl
from random_cases import random_case
from random_mixtures import Feature, mixture
from random_programs import random_program
from random_schedules import RandomOptimizePass
from random_seeds import batches
from slack import unexplained
from xdsl.dialects.builtin import ModuleOp

from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.codegen import BarrierOp, ShuffleOp, SpecialOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.properties import place, tensor
from tgdialect.ops.source import BufferOp
from tgdialect.targets import target_named
from tgdialect.targets.attribute import state_target

TARGETS = ("opencl", "nvidia:sm_90", "amd:gfx942")
DEVICES = (run_grid_on_cpu, pytest.param(on_opencl, marks=needs_opencl))
"""What runs programs for grids, besides the interpreter."""


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_GRIDS", 120), ids=str)
def test_programs(seeds: range):
    for seed in seeds:
        program = random_program(seed, 1 + seed % 14)
        expected = interpret(program.module, program.inputs)
        results = on_grid(TARGETS[seed % 3])(program.module, program.inputs)
        assert not differences(program.outputs, expected, results), seed


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_GRIDS", 30), ids=str)
def test_dynamic_programs(seeds: range):
    for seed in seeds:
        program = mixture(seed, Feature.SYMBOLIC, 1 + seed % 14)
        lowered = lowered_for_grid(program.module, TARGETS[seed % 3])
        for arguments in program.runs:
            again = partial(interpret, program.module, arguments)
            assert not unexplained(again, again(), run_grid(lowered, arguments)), seed


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_GRIDS", 60), ids=str)
def test_schedules(seeds: range):
    """Kernels and programs with the OptOps that `apply_opt` takes, on workgroups of any size."""
    for seed in seeds:
        check_schedule(seed, TARGETS[seed % 3], run_grid)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_GRIDS", 20), ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_schedules_on_devices(device: Executor, seeds: range):
    for seed in seeds:
        check_schedule(seed, target_for(device), device)


def check_schedule(seed: int, target: str, execute: Executor) -> None:
    """Whether a random schedule gives what the interpreter does."""
    module, inputs, compare = random_case(seed)
    expected = interpret(module, [array.copy() for array in inputs])
    optimize = RandomOptimizePass(Random(seed))
    state_target(module, target_named(target))
    lowered = lowered_for_grid(module, target, optimize=optimize)
    wrong = compare(expected, execute(lowered, inputs))
    assert not wrong, f"seed {seed}: {wrong}\n{optimize}\n{module}"


@needs_opencl
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_GRIDS", 30), ids=str)
def test_programs_on_opencl(seeds: range):
    for seed in seeds:
        program = random_program(seed, 1 + seed % 14)
        expected = interpret(program.module, program.inputs)
        results = on_opencl(program.module, program.inputs)
        assert not differences(program.outputs, expected, results), seed


@pytest.mark.parametrize("seeds", [range(15)], ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_large_programs(target: str, seeds: range):
    """With extents of hundreds there are workgroups, exchanges in LOCAL memory, and vectors."""
    features = Counter[str]()
    for seed in seeds:
        features.update(check_large_program(seed, target, run_grid))
    # Work items of a warp exchange values by shuffles, others with a BARRIER and a LOCAL buffer.
    features["exchange"] = features["barrier"] + features["shuffle"]
    for feature in ("gidx", "lidx", "exchange", "vector"):
        assert features[feature] > 3, f"{feature}: {features}"
    assert features["barrier"]
    assert bool(features["shuffle"]) == target_named(target).shuffles


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_GRIDS", 60), ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_large_programs_on_devices(device: Executor, seeds: range):
    target, features = target_for(device), Counter[str]()
    for seed in seeds:
        features.update(check_large_program(seed, target, device))
    exchange = ["shuffle"] if target_named(target).shuffles else ["barrier", "local buffer"]
    assert {"gidx", "lidx", "vector", *exchange} <= features.keys(), features


def check_large_program(seed: int, target: str, execute: Executor) -> Counter[str]:
    """Whether a program gives what the interpreter does; what is in it."""
    module, inputs = large_program(seed)
    lowered = lowered_for_grid(module, target)
    for x, y in zip(interpret(module, inputs), execute(lowered, inputs), strict=True):
        assert identical(x, y), f"seed {seed}: {x!r}\n{y!r}\n{module}"
    return _features(lowered)


def _features(module: ModuleOp) -> Counter[str]:
    """How many of the things that only grids have, and vectors, are in the programs of a module."""
    found = Counter[str]()
    for op in module.walk():
        match op:
            case SpecialOp():
                found[op.symbol.data[:4]] += 1
            case BarrierOp():
                found["barrier"] += 1
            case ShuffleOp():
                found["shuffle"] += 1
            case BufferOp() if place(op.result).addrspace is AddrSpace.LOCAL:
                found["local buffer"] += 1
            case LoadOp() | StoreOp() if tensor(op.operands[0]).get_shape():
                found["vector"] += 1
            case _:
                pass
    return found
