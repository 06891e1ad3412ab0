"""Reduction of a module to a small one that is still interesting: delta debugging.

* `program.py`: the module with the inputs of its entry, and whether a change of it is valid;
* `steps.py`: changes that any dialect allows; `tg_steps.py`: those that know the ops of `tg`;
* `search.py`: the order of the steps, and candidates in several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import LocationAttr, ModuleOp

from tgdialect.actions.execution import Evaluate, evaluate, has_tg
from tgdialect.actions.predicate import Predicate
from tgdialect.actions.reduce.program import Reducible
from tgdialect.actions.reduce.search import Search
from tgdialect.lowering.levels import level_of
from tgdialect.runtime.reproducer import leaving_none

__all__ = ["NotInteresting", "Reduced", "reduce"]


class NotInteresting(ValueError):
    """The predicate does not hold of the module that is to be reduced."""


@dataclass(frozen=True)
class Reduced:
    """A reduced module, and inputs for its entry: None if none were given.

    `runs` says how often the predicate ran. It is `complete` unless the time was over before: no
    step makes it smaller. `step` is where a search that goes on with it begins.
    """

    module: ModuleOp
    inputs: tuple[Any, ...] | None
    runs: int
    complete: bool = True
    step: int = 0
    doing: str = ""

    @property
    def ops(self) -> int:
        """The ops, without modules, functions, kernels, LINEARs and the terminators of these."""
        return Reducible(self.module).count()


@leaving_none()
def reduce(
    module: ModuleOp,
    is_interesting: Predicate,
    *,
    inputs: Sequence[Any] | None = None,
    entry: str | None = "main",
    run: Evaluate | None = evaluate,
    jobs: int = 1,
    seconds: float | None = None,
    timeout: float | None = None,
    crashes: bool = False,
    progress: Callable[[Reduced], None] | None = None,
    step: int = 0,
    runs: int = 0,
    place: LocationAttr | None = None,
) -> Reduced:
    """The smallest module that is found of which `is_interesting(module, inputs)` holds.

    `module` is not changed. `inputs` are those of the `entry`, as arrays or Python numbers; they
    change with its arguments. `run` computes the values that take the place of what is cut off;
    with None, and without inputs, nothing does. The module stays valid, and at its level.

    Candidates are tried in `jobs` processes, on which the result does not depend; with one and no
    `timeout` in this process. `timeout` is the time for one candidate, `seconds` for all. A
    candidate that ends its process is interesting if `crashes`. An exception of the predicate means
    that it does not hold. `progress` is called after each run of the predicate. `step` and `runs`
    are those of a `Reduced` to go on with. What is far from the first op of the entry at a `place`
    is tried without first. Raises `NotInteresting`.
    """

    def result(search: Search, complete: bool = False) -> Reduced:
        best = search.best
        arrays = None if best.inputs is None else tuple(best.inputs)
        return Reduced(best.module, arrays, search.runs, complete, search.step, search.name)

    given = None if inputs is None else [*inputs]
    level = level_of(module) if has_tg(module) else None
    search = Search(
        Reducible(module.clone(), entry, given, level, run),
        is_interesting,
        jobs,
        seconds,
        timeout,
        crashes,
        (lambda search: progress(result(search))) if progress else (lambda _: None),
        runs,
        step,
    )
    if not search.first_check():
        raise NotInteresting("the predicate does not hold of the module")
    if place is not None:
        search.cut_around(place)
    return result(search, search.run())
