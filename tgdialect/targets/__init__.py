"""Targets: what passes know of the processors that they compile for. In reading order:

* `target.py` is `Target`, the description that passes ask;
* `cpu.py` makes one from the features of a CPU;
* `architectures.py` has LLVM's names of them;
* `attribute.py` is the attribute by which a module says one;
* `host.py` finds out about the machine that this process runs on: nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from tgdialect.targets.cpu import CPU, FEATURES, cpu
from tgdialect.targets.target import Target

__all__ = ["DEFAULT_TARGET", "INTERPRETER", "MOST", "TARGETS", "Target", "target_named"]

TARGETS: dict[str, Callable[[Collection[str]], Target]] = {"cpu": cpu}
"""The targets that code is generated for: each from the features of its instruction set."""

MOST: Mapping[str, Target] = {"cpu": cpu(FEATURES)}
"""Each with all features: all native ops, conversions and AxisTypes that it may be said to have."""

DEFAULT_TARGET = CPU.name
"""The target of what says none."""

INTERPRETER = "interpreter"
"""The name that stands for the reference semantics where a user may choose how to run a program."""


def target_named(name: str, features: Collection[str] = ()) -> Target:
    """A target with these features, in LLVM's spelling, with or without the `+`.

    Raises ValueError for an unknown target or feature.
    """
    if (make := TARGETS.get(name)) is None:
        raise ValueError(f"{name!r} is not one of the targets: {', '.join(TARGETS)}")
    return make(features)
