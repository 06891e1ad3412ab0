"""The smallest program that an action breaks, and the rule of a step that does it.

Some steps are done as a whole: the gradient of a function, or the selection of a kernel. Which of
their rules is wrong shows in a small program, which needs few of them. The rules that were applied
in wrong programs, and in few right ones, come first: spectrum-based fault localisation (Abreu,
Zoeteweij and van Gemund, "On the Accuracy of Spectrum-based Fault Localization", 2007).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tgdialect.actions.bisect import (
    BisectedPass,
    Bisection,
    Culprit,
    Failed,
    Judge,
    NothingToBisect,
    Untestable,
    death,
    run_verified,
    time_limit,
)
from tgdialect.actions.judges import CANNOT_RUN, Meaning
from tgdialect.actions.listening import listening
from tgdialect.actions.predicate import ChangedMeaning, Predicate, Raises, Transform, kind_of_error
from tgdialect.actions.reduce import NotInteresting, Reduced, reduce
from tgdialect.diagnostics import Action, Actions

_Kind = tuple[str, str]
"""A rule, and the kind of op that it was applied to."""


class Smallest(NamedTuple):
    """A small program, and the action that breaks it in the pass that broke the large one."""

    reduced: Reduced
    culprit: Culprit


FEW = 10
"""With more ops than these the program that was given is reduced as well. Larger: programs of a
late level stay, where each tensor op is several; smaller: more searches, which run all passes."""


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

    Where that leaves more than a `FEW` ops, reduce the program that all passes began with, and take
    it if it has fewer, and the same pass breaks it: `passes` of the culprit are more than one then.

    `meaning` is that of the module that was bisected, and `timeout` the time for the passes. The
    other arguments are those of `reduce`.
    """
    start = time.monotonic()
    options = {"jobs": jobs, "progress": progress}
    search = _Search(found, meaning, [found.step], timeout)
    small = search.smallest(found.base, seconds=seconds, **options)
    left = None if seconds is None else seconds - (time.monotonic() - start)
    is_over = left is not None and left <= 0
    if small.reduced.ops <= FEW or len(found.passes) == 1 or is_over:
        return small
    with suppress(NotInteresting, NothingToBisect, Untestable):
        search = _Search(found, meaning, found.passes, timeout)
        whole = search.smallest(found.program, seconds=left, **options)
        is_same = whole.culprit.step.name == found.step.name
        if is_same and whole.reduced.ops < small.reduced.ops:
            return whole
    return small


class _Search:
    """A search for the smallest program that some passes break, as they do that of a culprit."""

    def __init__(
        self,
        found: Culprit,
        meaning: Meaning,
        passes: Sequence[BisectedPass],
        timeout: float | None,
    ) -> None:
        self._found = found
        self._meaning = meaning
        self._passes = passes
        self._timeout = timeout
        self._passed, self._failed = Counter[_Kind](), Counter[_Kind]()
        self._log: list[Action] = []
        for _, step in groupby(found.cleared, key=lambda note: note.number):
            self._passed.update({*map(_kind, step)})
        changed = ChangedMeaning(meaning.entry, self._transform, meaning.run, before=meaning.run)
        self._predicate: Predicate = changed
        if isinstance(found.failure, str):
            fails = kind_of_error(found.failure.removeprefix(CANNOT_RUN))
            self._predicate = replace(changed, fails=fails)
        if isinstance(found.failure, Failed):
            self._predicate = Raises(self._transform, found.failure.kind)
            if found.failure.is_death:
                self._predicate = _Dies(self._transform, found.failure, timeout)

    def smallest(self, module: ModuleOp, **options: Any) -> Smallest:
        """The smallest program that is found. `options` are those of `reduce`."""
        entry, run = self._meaning.entry, self._meaning.run
        reduced = reduce(
            module,
            self._is_interesting,
            inputs=self._meaning.inputs,
            entry=entry,
            run=run,
            place=self._found.action and self._found.action.location,
            **options,
        )
        culprit = self._found
        if reduced.complete:
            judge: Judge = _nothing_wrong
            if not isinstance(self._found.failure, Failed):
                judge = Meaning.of(reduced.module, entry, reduced.inputs or (), run)
            culprit = Bisection(reduced.module, self._passes, judge, self._timeout).culprit()
        # Of equal ones, a rule for few kinds of ops says more than one for all.
        kinds = Counter(pattern for pattern, _ in {*map(_kind, culprit.suspects)})
        suspects = sorted(
            culprit.suspects, key=lambda note: (-self._suspicion(note), kinds[note.pattern])
        )
        return Smallest(reduced, replace(culprit, suspects=suspects))

    def _transform(self, module: ModuleOp) -> None:
        for step in self._passes:
            self._log.clear()
            with listening(Actions(on_action=self._log.append)), time_limit(self._timeout):
                run_verified(step, module)

    def _is_interesting(self, module: ModuleOp, inputs: Sequence[Any] | None) -> bool:
        is_wrong = self._predicate(module, inputs)
        (self._failed if is_wrong else self._passed).update({*map(_kind, self._log)})
        return is_wrong

    def _suspicion(self, note: Action) -> float:
        """The coefficient of Ochiai: 1 for a rule that was applied in all wrong programs only."""
        kind, failed, passed = _kind(note), self._failed, self._passed
        runs = failed.total() and failed[kind] + passed[kind]
        return failed[kind] / math.sqrt(max(failed.values()) * runs) if runs else 0.0


def _nothing_wrong(_: ModuleOp) -> None:
    """The judge where a pass fails: a smaller program need not run."""


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
