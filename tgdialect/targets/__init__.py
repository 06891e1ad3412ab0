"""Targets: descriptions of the processors that passes compile for. In reading order:

* `target.py`: `Target`, the description that passes query;
* `cpu.py`: makes a `Target` from the features of a CPU; portable C;
* `grid.py`: GPUs and OpenCL devices; `matrix.py`: their matrix instructions, `local_factors.py`:
  the shapes of those that read LOCAL memory, `tile_assembly.py`: assembly of those of a CPU;
* `instructions.py`: the tables of instructions that INS names;
* `architectures.py`: LLVM's names of architectures, intrinsics and calling conventions;
  `needed.py`: the features that intrinsics and assembly need;
* `costs.py`: the costs of ops and of memory; `processors.py`: the rates of known processors,
  `calibrated.py`: those that were measured on this machine;
* `attribute.py`: the attribute that states a module's target;
* `host.py`: detects the machine that this process runs on, with what containers get of its cores;
  `processor.py`: what its CPU says of itself, and features that LLVM does not report;
  `listed_features.py`: those that Linux lists. No other file detects anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from tgdialect.targets.cpu import CPU, FEATURES, PORTABLE, cpu
from tgdialect.targets.grid import GRIDS
from tgdialect.targets.target import Target

__all__ = [
    "DEFAULT_TARGET",
    "INTERPRETER",
    "MOST",
    "MPI",
    "TARGETS",
    "Target",
    "source_language",
    "target_named",
]


def _without_features(target: Target, why: str) -> Callable[[Collection[str]], Target]:
    def make(features: Collection[str] = ()) -> Target:
        if features:
            raise ValueError(f"{target.name} has no features: {why}")
        return target

    return make


TARGETS: dict[str, Callable[[Collection[str]], Target]] = {
    "cpu": cpu,
    PORTABLE.name: _without_features(PORTABLE, "its compiler knows the processor"),
    **{grid.name: _without_features(grid, "its name says which processor it is") for grid in GRIDS},
}
"""The targets that code is generated for: each a function from features to a `Target`."""

MOST: Mapping[str, Target] = {
    "cpu": cpu(FEATURES),
    PORTABLE.name: PORTABLE,
    **{grid.name: grid for grid in GRIDS},
}
"""Each target with all features: the native ops, conversions and AxisTypes that it can have."""

DEFAULT_TARGET = CPU.name
"""The target of a module that states none."""

INTERPRETER = "interpreter"
"""The name by which a user chooses the reference interpreter instead of a target."""

MPI = "mpi"
"""The name by which a user chooses the processes of `mpiexec` as devices, each of which compiles
its part for its CPU."""


def source_language(target: str) -> str:
    """The C-like language of the sources for a target, given by its name: that of the vendor."""
    vendor = target.partition(":")[0]
    return {"nvidia": "cuda"}.get(vendor, vendor)


def target_named(name: str, features: Collection[str] = ()) -> Target:
    """A target with these features, in LLVM's spelling, with or without the `+`.

    Raises ValueError for an unknown target or feature.
    """
    if (make := TARGETS.get(name)) is None:
        raise ValueError(f"{name!r} is not one of the targets: {', '.join(TARGETS)}")
    return make(features)
