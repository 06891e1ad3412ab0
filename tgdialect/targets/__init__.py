"""Targets: what passes know of the processors that they compile for. In reading order:

* `target.py` is `Target`, the description that passes ask;
* `cpu.py` makes one from the features of a CPU;
* `attribute.py` is the attribute by which a module says one;
* `host.py` finds out about the machine that this process runs on: nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from tgdialect.targets.cpu import cpu
from tgdialect.targets.target import Target

__all__ = ["INTERPRETER", "TARGETS", "Target", "target_named"]

TARGETS: dict[str, Callable[[Collection[str]], Target]] = {"cpu": cpu}
"""The targets that code is generated for: each from the features of its instruction set."""

INTERPRETER = "interpreter"
"""The name that stands for the reference semantics where a user may choose how to run a program."""


def target_named(name: str, features: Collection[str] = ()) -> Target:
    """A target with these features, in LLVM's spelling, with or without the `+`.

    Raises ValueError for an unknown target or feature.
    """
    if (make := TARGETS.get(name)) is None:
        raise ValueError(f"{name!r} is not one of the targets: {', '.join(TARGETS)}")
    return make(features)
