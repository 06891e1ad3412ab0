"""The search for the smallest program: candidates of each step, from large to small changes, in as
many processes as there are jobs.

A candidate is a program after some changes of a step. It is tried only if it is smaller, valid and
at its level. Of several that are tried at once the first one in order is taken, so that the result
does not depend on the number of jobs.
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from typing import NoReturn

from xdsl.dialects.builtin import LocationAttr

from tgdialect.actions.predicate import Predicate
from tgdialect.actions.reduce import steps, tg_steps
from tgdialect.actions.reduce.program import Inapplicable, Reducible
from tgdialect.actions.reduce.steps import Changes
from tgdialect.diagnostics.locations import operation_location
from tgdialect.forking import end_without_handlers, no_warnings_of_forks

_FIRST_CHUNKS = 32
"""Into how many chunks the changes of a step are divided at most in the first round; in later ones
into eight times as many. More: a step that nothing allows costs more runs; fewer: the next step
gets a larger program."""
_WAYS = 6
"""How many places are tried at once where a program may be cut. More: a cut is found although a
smaller one is not interesting, and more jobs have work; fewer: fewer runs where that does not
occur."""
_DISTANCES = (10, 100)
"""How many ops are kept around the place of an action. Smaller: what is kept is reduced sooner;
larger: more of it has what the action needs."""
_GRACE = 2.0
"""The seconds that a process which is told to end has to kill what it has started."""
_IS_INTERESTING, _IS_NOT, _IS_NO_CANDIDATE = 100, 101, 102
"""The exit codes of a process that tries a candidate: none that a pass which ends it has."""


@dataclass(frozen=True)
class ReductionStep:
    """Changes that are tried in chunks. If it `narrows`, one of them is chosen: the first are the
    largest, and what a small one leaves out a large one does, too."""

    name: str
    changes: Callable[[Reducible], Changes]
    narrows: bool = False


def _step(changes: Callable[[Reducible], Changes], narrows: bool = False) -> ReductionStep:
    return ReductionStep(changes.__name__.replace("_", " "), changes, narrows)


CUTS = (
    _step(steps.symbols),
    _step(tg_steps.entry_parameters),
    _step(steps.results),
    _step(steps.beginnings, narrows=True),
    _step(steps.results),
    _step(steps.endings, narrows=True),
    _step(steps.arguments),
)
"""The steps that take most away of a large program, which are repeated before the others."""

STEPS = (
    *CUTS,
    _step(steps.inlined),
    _step(steps.branches),
    _step(tg_steps.outputs),
    _step(steps.unused),
    _step(steps.symbols),
    _step(tg_steps.ranges),
    _step(tg_steps.stored_values),
    _step(tg_steps.stored_operands),
    _step(steps.operands),
    _step(steps.leaves),
    _step(steps.values_as_arguments),
    ReductionStep("zeros", partial(steps.constants, number=0)),
    ReductionStep("ones", partial(steps.constants, number=1)),
    _step(steps.results),
    _step(steps.arguments),
    _step(steps.equal_arguments),
    _step(steps.unused),
    _step(tg_steps.bypasses),
    _step(tg_steps.versions),
    _step(tg_steps.gates),
    _step(tg_steps.parameters),
    _step(tg_steps.opts),
    _step(tg_steps.extents),
    _step(tg_steps.scalars),
    _step(tg_steps.dtypes),
    _step(tg_steps.places),
    _step(steps.attributes),
    ReductionStep("constants 0", partial(steps.numbers, wanted=lambda _: 0)),
    ReductionStep("constants 1", partial(steps.numbers, wanted=lambda _: 1)),
    ReductionStep("halves", partial(steps.numbers, wanted=lambda n: math.trunc(n / 2))),
    ReductionStep("whole numbers", partial(steps.numbers, wanted=lambda n: math.trunc(n))),
    ReductionStep("inputs 0", partial(steps.inputs, wanted=lambda a: a * 0)),
    ReductionStep("inputs 1", partial(steps.inputs, wanted=lambda a: a * 0 + 1)),
    ReductionStep("first inputs", partial(steps.inputs, wanted=lambda a: a * 0 + a.flat[0])),
    ReductionStep("whole inputs", partial(steps.inputs, wanted=steps.rounded)),
    _step(tg_steps.splats),
)
"""The steps of a round, in order: first those that take most away."""


class OutOfTime(Exception):
    """The time for the search is over."""


@dataclass
class Search:
    """A search, and the smallest interesting program that it has found.

    `runs` says how often the predicate was asked; candidates that are tried beside the one that is
    taken do not count. With `timeout`, or more than one job, candidates are tried in processes of
    their own; one that takes more than `timeout` seconds is not interesting, and one that ends its
    process is if `crashes`.
    """

    best: Reducible
    is_interesting: Predicate
    jobs: int = 1
    seconds: float | None = None
    timeout: float | None = None
    crashes: bool = False
    progress: Callable[[Search], None] = lambda _: None
    runs: int = 0
    step: int = 0
    name: str = ""
    _start: float = field(default_factory=time.monotonic)

    def run(self) -> bool:
        """Reduce until no step finds anything. Returns whether there was time for that."""
        chunks = _FIRST_CHUNKS
        try:
            while True:
                is_smaller = has_cut = False
                is_finest = True
                while self.step < len(STEPS):
                    step = STEPS[self.step]
                    self.name = step.name
                    if step.narrows:
                        found, finest = self._narrow(step), True
                    else:
                        found, finest = self._thin(step, chunks)
                    is_smaller, is_finest = is_smaller or found, is_finest and finest
                    has_cut = has_cut or found
                    self.step += 1
                    if self.step == len(CUTS) and has_cut:
                        self.step, has_cut = 0, False
                self.step = 0
                if not is_smaller and is_finest:
                    return True
                chunks *= 8
        except OutOfTime:
            return False

    def first_check(self) -> bool:
        """Whether the program is interesting to begin with."""
        return self._first([lambda: self.best.clone()]) is not None

    def cut_around(self, place: LocationAttr) -> None:
        """Cut off what is far from the first op at a place, if the rest is interesting."""
        self.name = "around"
        with suppress(OutOfTime):
            for distance in _DISTANCES:
                make = partial(self._around, place, distance)
                if self._first([make]) is not None:
                    self._take(make())
                    return

    def _around(self, place: LocationAttr, distance: int) -> Reducible:
        """The program without the ops of its entry that are so far from the first at a place."""
        program = self.best.clone()
        ops = [*program.function.body.block.ops]
        at = next((i for i, op in enumerate(ops) if operation_location(op) == place), None)
        if at is None or len(ops) <= 2 * distance:
            raise Inapplicable
        if at + distance < len(ops) - 1:
            steps.end_at(program, at + distance)
        if at > distance:
            steps.begin_at(program, at - distance)
        program.finish()
        return program

    # -- the changes of a step ---------------------------------------------------------------------

    def _thin(self, step: ReductionStep, chunks: int) -> tuple[bool, bool]:
        """Apply chunks of changes, each half as large as before. Returns whether the program is
        smaller now, and whether chunks of one change were tried."""
        count = self._count(step)
        least = max(1, count // chunks)
        size, found = count, False
        while size >= 1:
            position = 0
            while position < count:
                starts = range(position, count, size)
                makers = [partial(self._changed, step, s, s + size) for s in starts]
                if (hit := self._first(makers)) is None:
                    break
                self._take(makers[hit]())
                found, position, count = True, starts[hit], self._count(step)
            size = min(size, count) // 2 if size // 2 >= least else 0
        return found, least == 1

    def _narrow(self, step: ReductionStep) -> bool:
        """Apply one change, the largest that is found to be interesting: the first of some at equal
        distances, then of some between it and the one before. Returns whether there is one."""
        low, high = 0, self._count(step)
        best: int | None = None
        while low < high:
            numbers = range(low, high, math.ceil((high - low) / _WAYS))
            hit = self._first([partial(self._changed, step, n, n + 1) for n in numbers])
            if hit is None:
                low = numbers[-1] + 1
            else:
                best = high = numbers[hit]
                low = numbers[hit - 1] + 1 if hit else high
        if best is not None:
            self._take(self._changed(step, best, best + 1))
        return best is not None

    def _count(self, step: ReductionStep) -> int:
        try:
            return len(step.changes(self.best))
        except Inapplicable:
            return 0

    def _changed(self, step: ReductionStep, start: int, stop: int) -> Reducible:
        """The best program after some changes. Raises `Inapplicable` unless it is smaller."""
        program = self.best.clone()
        for change in [*step.changes(program)][start:stop]:
            with suppress(Inapplicable):
                change()
        program.finish()
        if not program.weight() < self.best.weight():
            raise Inapplicable
        return program

    def _take(self, program: Reducible) -> None:
        self.best = program
        self.progress(self)

    # -- candidates --------------------------------------------------------------------------------

    def _first(self, makers: Sequence[Callable[[], Reducible]]) -> int | None:
        """The number of the first maker whose program is interesting."""
        is_alone = self.jobs == 1 and self.timeout is None
        verdicts = map(self._judge, makers) if is_alone else self._judge_beside(makers)
        for number, verdict in enumerate(verdicts):
            self.runs += verdict != _IS_NO_CANDIDATE
            if verdict == _IS_INTERESTING:
                return number
            self.progress(self)
            if self.seconds is not None and time.monotonic() - self._start > self.seconds:
                raise OutOfTime
        return None

    def _judge(self, make: Callable[[], Reducible]) -> int:
        try:
            program = make()
            program.verify()
        except Exception:  # A change of any op may break any rule of any dialect, in any way.
            return _IS_NO_CANDIDATE
        with suppress(Exception):  # Another failure than the one that is looked for.
            if self.is_interesting(program.module, program.inputs):
                return _IS_INTERESTING
        return _IS_NOT

    def _judge_beside(self, makers: Sequence[Callable[[], Reducible]]) -> Iterator[int]:
        """The verdicts in order, found by processes that run beside each other."""
        running: dict[int, tuple[ForkProcess, float]] = {}
        verdicts: dict[int, int] = {}
        begun = 0
        try:
            for number in range(len(makers)):
                while number not in verdicts:
                    while begun < len(makers) and len(running) < self.jobs:
                        running[begun] = self._begin(makers[begun])
                        begun += 1
                    self._wait(running, verdicts)
                yield verdicts.pop(number)
        finally:
            for process, _ in running.values():
                _end(process)

    def _begin(self, make: Callable[[], Reducible]) -> tuple[ForkProcess, float]:
        process = get_context("fork").Process(target=_answer, args=(self._judge, make))
        with no_warnings_of_forks():
            process.start()
        limit = math.inf if self.timeout is None else time.monotonic() + self.timeout
        return process, limit

    def _wait(
        self, running: dict[int, tuple[ForkProcess, float]], verdicts: dict[int, int]
    ) -> None:
        """Wait until a process ends, or its time is over."""
        first = min(limit for _, limit in running.values())
        left = None if first == math.inf else max(0.0, first - time.monotonic())
        wait([process.sentinel for process, _ in running.values()], left)
        for number, (process, limit) in [*running.items()]:
            if process.exitcode is not None:
                code = process.exitcode
                verdicts[number] = _verdict(code, self.crashes)
            elif time.monotonic() >= limit:
                _end(process)
                verdicts[number] = _IS_NOT
            else:
                continue
            del running[number]


def _verdict(code: int, crashes: bool) -> int:
    """The verdict that an exit code says."""
    if code in (_IS_INTERESTING, _IS_NOT, _IS_NO_CANDIDATE):
        return code
    return _IS_INTERESTING if crashes else _IS_NOT


def _answer(
    judge: Callable[[Callable[[], Reducible]], int], make: Callable[[], Reducible]
) -> NoReturn:
    """The main function of a process, which ends with the verdict. It prints nothing, and when it
    is told to end it ends what it has started."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    end_without_handlers()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    raise SystemExit(judge(make))


def _leave(*_: object) -> NoReturn:
    raise SystemExit(_IS_NOT)


def _end(process: ForkProcess) -> None:
    process.terminate()
    process.join(_GRACE)
    process.kill()
    process.join()
