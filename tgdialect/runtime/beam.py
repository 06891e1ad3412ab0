"""BEAM on a machine: timed schedules, of which the object cache keeps the winners.

The search itself is `lowering/optimize/search.py`. A `Bench` compiles and times a kernel:
`optimize.py` has one for this CPU, and one for devices. Later processes find the schedules in
the object cache. The heuristic's schedule is the first candidate. It stays unless the winner is
still faster when both are timed again in turns.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from tgdialect.analysis.constants import constant_slots
from tgdialect.diagnostics import (
    RemarkArgument,
    RemarkKind,
    emit_remark,
    exception_text,
    remarks_are_wanted,
)
from tgdialect.environment import BEAM_SECONDS
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import (
    apply_opts,
    begin_schedule,
    has_schedule,
    parse_opt,
    spelled,
)
from tgdialect.lowering.optimize.search import Opts, Timed, beam_search, scheduled
from tgdialect.lowering.optimize.stage import BEAM, heuristic_opts, schedule_prepacking
from tgdialect.lowering.overwritten_memory import copy_overwritten
from tgdialect.lowering.packing import pass_packed
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.aborts import ABORTED, before_abort
from tgdialect.runtime.cache import cache_key, object_cache
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.progress import Progress, progress
from tgdialect.runtime.reproducer import leave, name_in, noted
from tgdialect.targets import Target
from tgdialect.targets.attribute import state_target
from tgdialect.transforms.simplify import simplify

_REPEAT_SECONDS = 0.01
"""The time for which a candidate is run again and again, in seconds; its fastest run counts.
Longer: less noise; shorter: more candidates in the same time."""
_GIVE_UP = 1.5
"""The ratio to the best time from which on a candidate is not repeated. Larger: more time for
hopeless ones; smaller: noise of the first runs decides."""
_HOPELESS = 10
"""The ratio to the best time from which on a candidate's first run is its last: cold caches do not
explain it. Larger: more time for hopeless ones; smaller: cold caches decide."""
_TURNS = 5
"""The turns in which the heuristic's schedule and the best one are timed for the final comparison.
Larger: less noise; smaller: less time."""
_FOUND: dict[str, str] = {}
"""Schedules that this process found, by cache key. The object cache may be switched off."""
_MARGIN = 0.02
"""The fraction of time that a schedule has to save to replace the heuristic's. Smaller: noise
decides; larger: small gains are given up."""

_TOLERANCE = 2.0
"""The greatest difference of results, in square roots of the precision of a dtype. Smaller:
schedules that add in different orders are refused; larger: miscompiled kernels, which are farther
off, pass."""


class Run(ABC):
    """A compiled kernel with the memory that it is timed on."""

    def __init__(self, arrays: Sequence[object]) -> None:
        """`arrays` are this memory, by argument. Candidates share it, but for what they have
        packed."""
        self.arrays = arrays

    @abstractmethod
    def __call__(self) -> float:
        """The seconds that it takes to run it once, infinity if it fails."""

    @abstractmethod
    def results(self, arrays: Sequence[Array]) -> Mapping[int, Array]:
        """The arguments that it writes, by position, when it begins with these arrays in its
        memory. Raises DeviceError if it fails."""


class Bench(ABC):
    """Where schedules of one kernel are compiled and timed."""

    def __init__(self, call: tg.CallOp, target: Target) -> None:
        """`target` is what instructions go by."""
        self._call = call
        self._target = target
        self._arrays = [filled(argument) for argument in call.arguments]

    @property
    @abstractmethod
    def key(self) -> Sequence[str]:
        """The inputs of the times, besides the kernel and the target."""

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The target in words of a user; None is this CPU."""

    def module(self, candidate: tg.KernelOp) -> tuple[ModuleOp, str, Sequence[Array]]:
        """`timed_module` of the kernel with a schedule."""
        return timed_module(candidate, self._call, self._arrays, self._target)

    def compiled(self, candidate: tg.KernelOp) -> Run:
        """The kernel with a schedule. Raises DiagnosticException or DeviceError if some stage, or
        the device, refuses it, and MemoryError."""
        return self._run(*self.module(candidate))

    @abstractmethod
    def _run(self, module: ModuleOp, entry: str, arrays: Sequence[Array]) -> Run:
        """The function `entry` of a module, with arrays for its arguments. Raises as
        `compiled`."""

    def agree(self, run: Run, other: Run) -> bool:
        """Whether two schedules write the same, up to the order of sums, when they begin with the
        same memory: one that the machine's compiler gets wrong is not the quickest. Packed
        arguments have other numbers in them, and are not compared."""
        if any(a is not b for a, b in zip(run.arrays, other.arrays, strict=True)):
            return True
        given = [filled(argument) for argument in self._call.arguments]
        try:
            wanted, found = (each.results(given) for each in (run, other))
        except DeviceError:
            return False
        return all(
            _is_close(array, found[position], tg.dtype_of(self._call.arguments[position]))
            for position, array in wanted.items()
        )


def _is_close(wanted: Array, found: Array, dtype: tg.DType) -> bool:
    """Whether two results of a dtype are the same up to the order of sums."""
    if not dtype.is_float:
        return bool(np.array_equal(wanted, found))
    a, b = (array.astype(np.float64) for array in (wanted, found))
    limit = _TOLERANCE * 2.0 ** ((1 - dtype.precision) / 2)
    scale = float(np.nanmax(np.abs(a), initial=0)) if np.isfinite(a).any() else 0.0
    return bool(np.allclose(a, b, rtol=limit, atol=limit * scale, equal_nan=True))


def search_schedules(
    module: ModuleOp, width: int, target: Target, bench: Callable[[tg.KernelOp, tg.CallOp], Bench]
) -> None:
    """Apply to each kernel of a module the fastest OptOps that a search finds or has found.

    Raises SettingError for a wrong `TG_BEAM_SECONDS`.
    """
    copy_overwritten(module)
    # The kernels without a schedule, from the heuristic's on.
    seconds = BEAM_SECONDS.get()
    calls = {c.callee.root_reference.data: c for c in module.walk() if isinstance(c, tg.CallOp)}
    kernels = [
        k for k in module.ops if isinstance(k, tg.KernelOp) and not (k.calls or has_schedule(k))
    ]
    constants = constant_slots(module)
    with progress("searching schedules", len(kernels)) as shown:
        for kernel in kernels:
            kernel.sink.opts = ArrayAttr[tg.OptAttr]([])
            opts = heuristic_opts(kernel, target, constants.get(kernel.sym_name.data, frozenset()))
            call = calls.get(kernel.sym_name.data)
            if call is not None and all(map(_is_static, call.arguments)):
                search = _Search(kernel, target, bench(kernel, call))
                opts = search.best(opts, width, seconds, shown)
            axes = Axes(kernel)
            begin_schedule(axes)
            apply_opts(axes, opts)
            schedule_prepacking(axes, target)
            pass_packed({kernel: axes.prepacked})
            shown.step()


def _is_static(value: SSAValue) -> bool:
    return tg.is_memory(value) and DYNAMIC_INDEX not in tg.tensor(value).get_shape()


@dataclass
class _Search:
    """The search for the schedule of one kernel."""

    kernel: tg.KernelOp
    target: Target
    """The machine that schedules and instructions are for."""
    bench: Bench
    _failures: set[type] = field(default_factory=set[type])
    """The kinds of failures that have left a reproducer."""

    def best(self, heuristic: Opts, width: int, seconds: float, shown: Progress) -> Opts:
        """The best schedule, from the store or by a search that is noted in `shown`."""
        # Look up the schedule, by the kernel without its name and all that the search depends on.
        store = object_cache()
        named = self.kernel.clone()
        named.sym_name = StringAttr("kernel")
        key = cache_key(
            *(BEAM, str(named), *self.bench.key, str(self.target), str(width), str(seconds)),
            *map(spelled, heuristic),
            *(["shared"] if Axes(self.kernel).has_shared_memory else []),
        )
        if (text := _FOUND.get(key)) is None and store is not None:
            text = data.decode() if (data := store.get(key)) is not None else None
        if text is not None:
            return tuple(parse_opt(line) for line in text.splitlines())
        # Search until the time is over.
        end = time.perf_counter() + seconds
        timed, quickest = 0, math.inf

        def timer(candidate: tg.KernelOp, limit: float) -> float:
            nonlocal timed, quickest
            found = self._seconds(candidate, limit)
            timed, quickest = timed + 1, min(quickest, found)
            shown.note = f"{timed} schedules, best {1e3 * quickest:.3f} ms"
            return found

        found = beam_search(
            self.kernel,
            [heuristic, ()],
            timer,
            width,
            lambda: time.perf_counter() < end,
            self.target,
        )
        # Store the winner.
        opts = self._quickest(heuristic, found)
        if remarks_are_wanted():
            kind = RemarkKind.MISSED if opts == heuristic else RemarkKind.PASSED
            taken = "; ".join(map(spelled, opts))
            message = f"beam: {taken} is the best of {timed} schedules ({1e3 * quickest:.3f} ms)"
            more: dict[str, RemarkArgument] = {"OptOps": taken, "Trials": timed, "Best": quickest}
            emit_remark(self.kernel, message, "Beam", kind, **more)
        _FOUND[key] = text = "\n".join(spelled(o) for o in opts)
        if store is not None:
            store.put(key, text.encode())
        return opts

    def _quickest(self, heuristic: Opts, found: Sequence[Timed]) -> Opts:
        """The best schedule found that gives what the heuristic's gives, if it is quicker when both
        are timed in turns."""
        before = self._compiled(heuristic)
        for seconds, opts in found:
            after = None if opts == heuristic else self._compiled(opts)
            if after is None or math.isinf(seconds):
                break
            if before is not None and not self.bench.agree(before, after):
                self._leave(opts, "other results than the heuristic's schedule has")
                continue
            if before is None:
                return opts
            times = [[_fastest(run, math.inf) for run in (before, after)] for _ in range(_TURNS)]
            mine, its = (min(column) for column in zip(*times, strict=True))
            return opts if its < (1 - _MARGIN) * mine else heuristic
        return heuristic

    def _compiled(self, opts: Opts) -> Run | None:
        candidate = scheduled(self.kernel, opts)
        return None if candidate is None else self._run(candidate)

    def _seconds(self, candidate: tg.KernelOp, limit: float) -> float:
        run = self._run(candidate)
        return math.inf if run is None else _fastest(run, limit)

    def _run(self, candidate: tg.KernelOp) -> Run | None:
        """A candidate, compiled; None if some stage, or the device, refuses it."""
        opts = tuple(candidate.sink.opts or ())  # Compiling it changes the kernel.
        try:
            with before_abort(lambda: noted(self._leave(opts, ABORTED))):
                return self.bench.compiled(candidate)
        except MemoryError:
            return None
        except (DiagnosticException, DeviceError) as error:
            self._leave(opts, error)
            return None
        except Exception as error:
            name_in(error, self._leave(opts, error))
            raise

    def _leave(self, opts: Opts, error: Exception | str) -> Path | None:
        """Leave a reproducer of a schedule that failed: one for each kind of failure in a search,
        which may have many that are alike."""
        if (kind := type(error)) in self._failures or (k := scheduled(self.kernel, opts)) is None:
            return None
        self._failures.add(kind)
        module, entry, arrays = self.bench.module(k)
        path = leave(
            "beam",
            lambda: str(module),
            target=self.bench.name,
            options={"entry": entry, "opt": "none"},
            inputs=arrays,
            error=error,
        )
        words = error if isinstance(error, str) else exception_text(error)
        message = f"a schedule failed: {'; '.join(map(spelled, opts))}: {words}"
        more = {} if path is None else {"Reproducer": str(path)}
        emit_remark(self.kernel, message, "Beam", RemarkKind.FAILED, **more)
        return path


def _fastest(run: Run, limit: float) -> float:
    """The seconds of the fastest run. The first run, which warms the caches, may count."""
    best, runs = math.inf, 0
    end = time.perf_counter() + _REPEAT_SECONDS
    while time.perf_counter() < end or runs < 3:
        best = min(best, run())
        runs += 1
        if best > (_GIVE_UP if runs > 1 else _HOPELESS) * limit or math.isinf(best):
            break
    return best


def timed_module(
    candidate: tg.KernelOp, call: tg.CallOp, arrays: Sequence[Array], target: Target
) -> tuple[ModuleOp, str, Sequence[Array]]:
    """A module with a scheduled kernel and a function that calls it, the name of that function, and
    arrays for its arguments.

    `arrays` are for the arguments of the call; those that a STAGE packs are replaced by others.
    """
    name = candidate.sym_name.data
    types: list[Attribute] = [a.type for a in call.arguments]
    given = list(arrays)
    for slot, parameter in enumerate(candidate.params):
        packed = tg.tensor(parameter.result)
        if packed.get_shape() != given[slot].shape:
            where = tg.place(call.arguments[slot])
            types[slot] = tg.tensor_type(packed.element_type, packed.get_shape(), where)
            given[slot] = filled(parameter.result)
    block = Block(arg_types=types)
    inner = tg.CallOp.create(
        operands=block.args,
        result_types=[r.type for r in call.results],
        properties=call.properties,
        attributes=call.attributes,
    )
    block.add_ops([inner, tg.SinkOp(inner.results), ReturnOp()])
    entry = f"{name}_timed"
    signature = FunctionType.from_lists(list(block.arg_types), [])
    module = ModuleOp([candidate, FuncOp(entry, signature, Region(block))])
    state_target(module, target)
    simplify(candidate)
    return module, entry, given


def filled(argument: SSAValue) -> Array:
    """An array for a kernel to work on: normal floats, since subnormal ones are slow, and integers
    that are 0, which are valid as indices."""
    shape, dtype = tg.tensor(argument).get_shape(), tg.dtype_of(argument)
    if dtype.is_float:
        return np.random.default_rng(0).uniform(0.5, 1.5, shape).astype(numpy_dtype(dtype))
    return np.zeros(shape, f"u{dtype.itemsize}")
