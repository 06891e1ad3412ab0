"""Schedules found by timing kernels on this machine.

The search itself is `lowering/optimize/search.py`. This file times kernels, and stores the
schedules that were found in the object cache, where later processes find them. The heuristic's
schedule is the first candidate. It stays unless the winner is still faster when both are timed
again in turns.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
from tqdm import tqdm
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import DiagnosticException, PassFailedException

from tgdialect.analysis.constants import constant_slots
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.heuristics import schedule, schedule_prepacking
from tgdialect.lowering.optimize.optops.apply import (
    apply_opts,
    begin_schedule,
    has_schedule,
    parse_opt,
    spelled,
)
from tgdialect.lowering.optimize.search import BEAM, Opts, Timed, beam_search, scheduled
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops.attributes import OptAttr
from tgdialect.ops.call import CallOp, KernelOp
from tgdialect.ops.ordering import SinkOp
from tgdialect.ops.properties import dtype_of, is_memory, place, tensor, tensor_type
from tgdialect.runtime.cache import cache_key, object_cache
from tgdialect.runtime.codegen import generated
from tgdialect.runtime.loader import load
from tgdialect.runtime.memory import address
from tgdialect.runtime.program import Array
from tgdialect.targets import Target
from tgdialect.targets.attribute import MODULE_ATTRIBUTE, settle_target, state_target
from tgdialect.transforms.simplify import simplify

SECONDS_VARIABLE = "TG_BEAM_SECONDS"
DEFAULT_SECONDS = 20.0

_REPEAT_SECONDS = 0.01
"""For how long a candidate is run again and again; its fastest run counts."""
_GIVE_UP = 1.5
"""A candidate whose first runs take this many times as long as the best one is not repeated."""
_TURNS = 5
_FOUND: dict[str, str] = {}
"""Schedules that this process found, by cache key. The object cache may be switched off."""
_MARGIN = 0.02
"""The fraction of time that a schedule has to save to replace the heuristic's."""


def search_schedules(
    module: ModuleOp, width: int, features: tuple[str, ...], threads: int | None, l2: int | None
) -> None:
    """Apply to each kernel of a module the fastest OptOps that a search finds or has found.

    `features`, `threads` and `l2` are the options of `OptimizePass`. With neither `features` nor a
    `tg.target` the target is this machine.

    Raises PassFailedException for an invalid `TG_BEAM_SECONDS`, feature or number of threads.
    """
    # The target of the schedules, and the processor that LLVM compiles candidates for: this one, or
    # one of just the features that were asked for.
    cpu = CpuTarget.host()
    if features:
        target = settle_target(module, features=features, threads=threads, l2=l2)
        names = ",".join(f"+{name}" for name in sorted(target.features))
        cpu = replace(cpu, cpu="", features=names)
    else:
        known = () if MODULE_ATTRIBUTE in module.attributes else cpu.known_features
        target = settle_target(module, features=known, threads=threads, l2=l2)
    # The kernels without a schedule, from the heuristic's on.
    seconds = beam_seconds()
    calls = {c.callee.root_reference.data: c for c in module.walk() if isinstance(c, CallOp)}
    kernels = [k for k in module.ops if isinstance(k, KernelOp) and not has_schedule(k)]
    constants = constant_slots(module)
    with tqdm(kernels, BEAM, unit="kernel", disable=not sys.stderr.isatty()) as progress:
        for kernel in progress:
            kernel.sink.opts = ArrayAttr[OptAttr]([])
            slots = constants.get(kernel.sym_name.data, frozenset())
            opts = _heuristic(kernel, target, slots)
            call = calls.get(kernel.sym_name.data)
            if call is not None and _is_static(call):

                def show(timed: int, best: float) -> None:
                    progress.set_postfix_str(f"{timed} schedules, best {1e3 * best:.3f} ms")

                search = _Search(kernel, call, cpu, target)
                opts = search.best(opts, width, seconds, show)
            axes = Axes(kernel)
            begin_schedule(axes)
            apply_opts(axes, opts)
            schedule_prepacking(axes, target)


def beam_seconds() -> float:
    """How long a search may take for each kernel: `TG_BEAM_SECONDS`, or 20."""
    text = os.environ.get(SECONDS_VARIABLE, "")
    try:
        seconds = float(text) if text else DEFAULT_SECONDS
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise PassFailedException(f"{SECONDS_VARIABLE} is {text!r}, not a number of seconds")
    return seconds


def _heuristic(kernel: KernelOp, target: Target, constants: Set[int]) -> Opts:
    copy = kernel.clone()
    axes = Axes(copy, kernel, constants)
    begin_schedule(axes)
    schedule(axes, target)
    return tuple(copy.sink.opts or ())


def _is_static(call: CallOp) -> bool:
    """Whether every argument of a kernel is memory of known size."""
    return all(is_memory(a) and DYNAMIC_INDEX not in tensor(a).get_shape() for a in call.arguments)


class _Search:
    """The search for the schedule of one kernel."""

    def __init__(self, kernel: KernelOp, call: CallOp, cpu: CpuTarget, target: Target) -> None:
        """`target` is what schedules and instructions go by, `cpu` what LLVM generates code for."""
        self._kernel = kernel
        self._call = call
        self._cpu = cpu
        self._target = target
        self._arrays = [_filled(argument) for argument in call.arguments]
        self._stages = replace(stages(), module=())

    def best(
        self,
        heuristic: Opts,
        width: int,
        seconds: float,
        show: Callable[[int, float], None],
    ) -> Opts:
        """The best schedule, from the store or by a search."""
        # Look up the schedule, by the kernel without its name and all that the search depends on.
        store = object_cache()
        named = self._kernel.clone()
        named.sym_name = StringAttr("kernel")
        key = cache_key(
            *(BEAM, str(named), repr(self._cpu), str(self._target), str(width), str(seconds)),
            *map(spelled, heuristic),
            *(["shared"] if Axes(self._kernel).has_shared_memory else []),
        )
        if (text := _FOUND.get(key)) is None and store is not None:
            text = data.decode() if (data := store.get(key)) is not None else None
        if text is not None:
            return tuple(parse_opt(line) for line in text.splitlines())
        # Search until the time is over.
        end = time.perf_counter() + seconds
        timed, quickest = 0, math.inf

        def timer(candidate: KernelOp, limit: float) -> float:
            nonlocal timed, quickest
            found = self._seconds(candidate, limit)
            timed, quickest = timed + 1, min(quickest, found)
            show(timed, quickest)
            return found

        found = beam_search(
            self._kernel,
            [heuristic, ()],
            timer,
            width,
            lambda: time.perf_counter() < end,
            self._target,
        )
        # Store the winner.
        opts = self._quickest(heuristic, found)
        _FOUND[key] = text = "\n".join(spelled(o) for o in opts)
        if store is not None:
            store.put(key, text.encode())
        return opts

    def _quickest(self, heuristic: Opts, found: Sequence[Timed]) -> Opts:
        """The best schedule found, if it beats the heuristic's when both are timed in turns."""
        opts = found[0].opts if found else heuristic
        if opts == heuristic:
            return heuristic
        programs = [self._program(scheduled(self._kernel, each)) for each in (heuristic, opts)]
        times = [[self._run(program, math.inf) for program in programs] for _ in range(_TURNS)]
        before, after = (min(column) for column in zip(*times, strict=True))
        return opts if after < (1 - _MARGIN) * before else heuristic

    def _seconds(self, candidate: KernelOp, limit: float) -> float:
        return self._run(self._program(candidate), limit)

    def _program(self, candidate: KernelOp | None) -> Callable[[], None] | None:
        """A call of the compiled kernel on arrays; None if some stage refuses the candidate."""
        if candidate is None:
            return None
        # Arguments: the caller's types, but packed ones where STAGE changed a parameter's layout.
        name = candidate.sym_name.data
        types, arrays = [a.type for a in self._call.arguments], list(self._arrays)
        for slot, parameter in enumerate(candidate.params):
            packed = tensor(parameter.result)
            if packed.get_shape() != arrays[slot].shape:
                where = place(self._call.arguments[slot])
                types[slot] = tensor_type(packed.element_type, packed.get_shape(), where)
                arrays[slot] = _filled(parameter.result)
        # A module with the kernel and a function that calls it.
        block = Block(arg_types=types)
        call = CallOp.create(
            operands=block.args,
            result_types=[r.type for r in self._call.results],
            properties=self._call.properties,
            attributes=self._call.attributes,
        )
        block.add_ops([call, SinkOp(call.results), ReturnOp()])
        entry = f"{name}_timed"
        signature = FunctionType.from_lists(list(block.arg_types), [])
        module = ModuleOp([candidate, FuncOp(entry, signature, Region(block))])
        state_target(module, self._target)
        # Compile and load.
        try:
            simplify(candidate)
            run_stages(module, self._stages)
            code = load(generated(self._cpu.object_code, llvm_ir(module)))
        except DiagnosticException:
            return None
        pointers = [ctypes.c_void_p] * len(arrays)
        function: Any = ctypes.CFUNCTYPE(None, *pointers)(code.address(entry))
        addresses = [address(array) for array in arrays]

        def run(keep: object = (code, arrays)) -> None:
            function(*addresses)

        return run

    @staticmethod
    def _run(program: Callable[[], None] | None, limit: float) -> float:
        """The seconds of the fastest run. The first run, which warms the caches, may count."""
        if program is None:
            return math.inf
        best, runs = math.inf, 0
        end = time.perf_counter() + _REPEAT_SECONDS
        while (start := time.perf_counter()) < end or runs < 3:
            program()
            best = min(best, time.perf_counter() - start)
            runs += 1
            if best > _GIVE_UP * limit and runs > 1:
                break
        return best


def _filled(argument: SSAValue) -> Array:
    """An array for a kernel to work on: normal floats, since subnormal ones are slow, and integers
    that are 0, which are valid as indices."""
    shape, dtype = tensor(argument).get_shape(), dtype_of(argument)
    if dtype.is_float and dtype.itemsize > 1:
        values = np.random.default_rng(0).uniform(0.5, 1.5, shape)
        return values.astype(f"f{dtype.itemsize}")
    return np.zeros(shape, f"u{dtype.itemsize}")
