"""The smallest program that an action breaks, and the rule of a step that does it.

Some steps are done as a whole: the gradient of a function, or the selection of a kernel. Which of
their rules is wrong shows in a small program, which needs few of them. The rules that were applied
in wrong programs, and in few right ones, come first: spectrum-based fault localisation (Abreu,
Zoeteweij and van Gemund, "On the Accuracy of Spectrum-based Fault Localization", 2007).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tgdialect.actions.bisect import Bisection, Culprit, Failed, death, run_verified, time_limit
from tgdialect.actions.judges import CANNOT_RUN, Meaning
from tgdialect.actions.listening import listening
from tgdialect.actions.predicate import ChangedMeaning, Predicate, Raises, Transform, kind_of_error
from tgdialect.actions.reduce import Reduced, reduce
from tgdialect.diagnostics import Action, Actions

_Kind = tuple[str, str]
"""A rule, and the kind of op that it was applied to."""


class Smallest(NamedTuple):
    """A small program, and the action that breaks it in the pass that broke the large one."""

    reduced: Reduced
    culprit: Culprit


def smallest(
    found: Culprit,
    meaning: Meaning,
    *,
    jobs: int = 1,
    seconds: float | None = None,
    timeout: float | None = None,
    progress: Callable[[Reduced], None] | None = None,
) -> Smallest:
    """Reduce the module before the pass of an action, so that the pass still changes its meaning.

    `meaning` is that of the module that was bisected, and `timeout` the time for a pass. The other
    arguments are those of `reduce`.
    """
    passed, failed = Counter[_Kind](), Counter[_Kind]()
    for _, step in groupby(found.cleared, key=lambda note: note.number):
        passed.update({*map(_kind, step)})
    log: list[Action] = []

    def transform(module: ModuleOp) -> None:
        log.clear()
        with listening(Actions(on_action=log.append)), time_limit(timeout):
            run_verified(found.step, module)

    changed = ChangedMeaning(meaning.entry, transform, meaning.run, before=meaning.run)
    predicate: Predicate = changed
    if isinstance(found.failure, str):
        predicate = replace(changed, fails=kind_of_error(found.failure.removeprefix(CANNOT_RUN)))
    if isinstance(found.failure, Failed):
        predicate = Raises(transform, found.failure.kind)
        if found.failure.is_death:
            predicate = _Dies(transform, found.failure, timeout)

    def is_interesting(module: ModuleOp, inputs: Sequence[Any] | None) -> bool:
        is_wrong = predicate(module, inputs)
        (failed if is_wrong else passed).update({*map(_kind, log)})
        return is_wrong

    def suspicion(note: Action) -> float:
        """The coefficient of Ochiai: 1 for a rule that was applied in all wrong programs only."""
        kind = _kind(note)
        runs = failed.total() and failed[kind] + passed[kind]
        return failed[kind] / math.sqrt(max(failed.values()) * runs) if runs else 0.0

    reduced = reduce(
        found.base,
        is_interesting,
        inputs=meaning.inputs,
        entry=meaning.entry,
        run=meaning.run,
        jobs=jobs,
        seconds=seconds,
        progress=progress,
    )
    inputs = reduced.inputs or ()
    judge = Meaning.of(reduced.module, meaning.entry, inputs, meaning.run)
    culprit = Bisection(reduced.module, [found.step], judge, timeout).culprit()
    # Of equal ones, a rule for few kinds of ops says more than one for all.
    kinds = Counter(pattern for pattern, _ in {*map(_kind, culprit.suspects)})
    suspects = sorted(culprit.suspects, key=lambda note: (-suspicion(note), kinds[note.pattern]))
    return Smallest(reduced, replace(culprit, suspects=suspects))


@dataclass(frozen=True)
class _Dies:
    """A predicate: passes end their process, or take too long, as a `failure` says."""

    transform: Transform
    failure: Failed
    timeout: float | None

    def __call__(self, module: ModuleOp, inputs: Sequence[Any] | None) -> bool:
        return death(lambda _: self.transform(module), self.timeout) == self.failure


def _kind(action: Action) -> _Kind:
    """The rule and the kind of op of an action."""
    return action.pattern, action.op.partition(" ")[0]
