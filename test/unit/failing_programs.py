"""The programs that a random test compiles, lowers and interprets.

A random test that fails is run again, which records them. Where the code of one of the last does
otherwise than the interpreter, or passes have changed what it means, the failure is said as the
reproducer of that program (`reproduced.py`), which is reduced. Where all are right, what
has made them is wrong: then it is the last program as it is.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

import numpy as np
import pytest

MOST = 12
"""The programs that are kept. More: more of those that a test compares with each other; fewer:
failures are judged sooner."""
MOST_ELEMENTS = 1 << 20
"""The elements of the inputs of a program that is kept, which are copied."""
MOST_LINES = 40
"""The lines of a failure that are shown."""
MOST_TEXT = 1 << 16
"""The characters of a program that is shown as it is."""
SECONDS = 60.0
"""The time in which the programs are judged, in seconds. More: earlier ones of large programs are;
fewer: a batch that fails is over sooner."""

ALL_SECONDS = 600.0
"""The time for all tests of a process that fail, in seconds. More: more reproducers; fewer: a
commit that breaks many tests is tested sooner."""
FAILURES = Exception, pytest.fail.Exception
"""The exceptions of a test that fails."""

Passes = Sequence[tuple[Any, Any]]
"""Passes that a module has been through, each with a copy of the module before it."""
Judged = Iterator[tuple[Any, Sequence[str]]]
"""Programs that may fail (`reproduced.Failed`), and the kinds of failures that count."""


@dataclass(frozen=True)
class Program:
    """A program that was run, or that could not be compiled."""

    module: Any
    inputs: Sequence[np.ndarray[Any, Any]]
    entry: str = "main"
    passes: Passes = ()
    execute: Any = None
    """How it was run, if not by the interpreter (`executors.py`)."""
    options: dict[str, str] = field(default_factory=dict[str, str])
    """Those of `tg-run` that do the same."""
    custom: Any = None
    error: BaseException | None = None
    is_differentiated: bool = False
    """Whether tensors have asked for the gradient of its result."""


class Recorder:
    """Records the programs that run within `recording`."""

    def __init__(self) -> None:
        self.programs = deque[Program](maxlen=MOST)
        self._passes = WeakKeyDictionary[Any, Passes]()
        self._is_in_pass = False
        self._callee: tuple[Any, str] | None = None

    def _add(self, module: Any, arrays: Sequence[Any], **about: Any) -> None:
        with suppress(Exception):  # It is the failure of the test that is to be said.
            given = [np.array(array) for array in arrays]
            if sum(array.size for array in given) <= MOST_ELEMENTS:
                passes = self._passes.get(module, ())
                self.programs.append(Program(module.clone(), given, passes=passes, **about))

    @contextmanager
    def recording(self) -> Generator[None]:
        """Within the context, programs are recorded."""
        from xdsl.dialects.builtin import ModuleOp
        from xdsl.passes import ModulePass

        from tgdialect.frontend import tensor
        from tgdialect.interpreter import calls
        from tgdialect.runtime import compiler
        from tgdialect.runtime.devices.executable import DeviceExecutable
        from tgdialect.runtime.distributed.executable import ShardedExecutable
        from tgdialect.runtime.host_executable import HostExecutable
        from tgdialect.runtime.staged import StagedModule

        with ExitStack() as stack:

            def wrap(owner: Any, name: str, wrapper: Callable[..., Any]) -> None:
                stack.enter_context(patch.object(owner, name, wrapper(getattr(owner, name))))

            for kind in (HostExecutable, DeviceExecutable, ShardedExecutable):
                for name in ("__call__", "resident"):
                    wrap(kind, name, self._call)
            for kind in _subclasses(StagedModule):
                wrap(kind, "program", self._program)
            for name in ("_sharded", "_on_one_device"):
                wrap(compiler, name, self._compiled)
            wrap(tensor, "gradients", self._gradients)
            wrap(calls, "symbol_of", self._symbol)
            wrap(calls, "bind", self._bind)
            wrap(ModuleOp, "clone", self._clone)
            for kind in _subclasses(ModulePass):
                for name in {"apply", "lower"} & vars(kind).keys():
                    wrap(kind, name, self._pass)
            yield

    def _call(self, method: Any) -> Any:
        def call(executable: Any, *arrays: Any, **how: Any) -> Any:
            with suppress(Exception):
                about = getattr(executable, "recorded", None)
                about = about or _about(executable._build(), executable)
                self._add(arrays=list(executable.completed(arrays)), **about)
            return method(executable, *arrays, **how)

        return call

    def _program(self, method: Any) -> Any:
        def program(build: Any) -> Any:
            kept = replace(build, source=build.source.clone(), is_consumed=False)
            try:
                return method(build)
            except Exception as error:
                self._add(arrays=(), error=error, **_about(kept))
                raise

        return program

    def _gradients(self, differentiate: Any) -> Any:
        from xdsl.dialects.builtin import FunctionType, ModuleOp
        from xdsl.dialects.func import FuncOp, ReturnOp
        from xdsl.ir import Block, Region

        def gradients(builder: Any, seeds: Any, *arguments: Any) -> Any:
            copies: dict[Any, Any] = {}
            block = Block([op.clone(copies) for op in builder.block.ops])
            results = [copies[value] for value in seeds]
            block.add_op(ReturnOp(*results))
            type = FunctionType.from_lists([], [value.type for value in results])
            module = ModuleOp([FuncOp("main", type, Region(block))])
            self._add(module, (), is_differentiated=True)
            return differentiate(builder, seeds, *arguments)

        return gradients

    def _compiled(self, compile: Any) -> Any:
        """Programs of `compile`, which keeps their text alone."""
        from tgdialect.runtime import compiler

        def compiled(source: Any, target: Any, entry: str, opt: str, custom: Any) -> Any:
            module = None
            with suppress(Exception):
                module = source.module().clone()
            executable = compile(source, target, entry, opt, custom)

            def again(module: Any, inputs: Sequence[Any]) -> Any:
                how = {"allow_custom": custom.allowed, "custom": custom.functions or None}
                return compiler.compile(module, entry=entry, target=target, opt=opt, **how)(*inputs)

            options = {"opt": opt} | ({} if target is None else {"target": target})
            about = {"module": module, "entry": entry, "custom": custom, "options": options}
            executable.recorded = {**about, "execute": again}
            return executable

        return compiled

    def _symbol(self, find: Any) -> Any:
        def symbol_of(module: Any, entry: str) -> Any:
            self._callee = module, entry
            return find(module, entry)

        return symbol_of

    def _bind(self, bind: Any) -> Any:
        def bound(params: Any, inputs: Any, buffers: Any) -> Any:
            if self._callee is not None:
                module, entry = self._callee
                self._add(module, inputs, entry=entry)
            return bind(params, inputs, buffers)

        return bound

    def _clone(self, clone: Any) -> Any:
        def cloned(module: Any, *arguments: Any, **how: Any) -> Any:
            made = clone(module, *arguments, **how)
            if passes := self._passes.get(module):
                self._passes[made] = passes
            return made

        return cloned

    def _pass(self, method: Any) -> Any:
        def run(each: Any, *arguments: Any) -> Any:
            module = arguments[-1]
            if self._is_in_pass:
                return method(each, *arguments)
            self._is_in_pass = True
            try:
                self._passes[module] = *self._passes.get(module, ()), (each, module.clone())
                return method(each, *arguments)
            except Exception as error:
                self._add(module, (), error=error)
                raise
            finally:
                self._is_in_pass = False

        return run


def _subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def _about(build: Any, executable: Any = None) -> dict[str, Any]:
    """The program of a build, and how another module is compiled and run as it is."""
    from tgdialect.runtime.devices.executable import DeviceExecutable
    from tgdialect.runtime.host_executable import HostExecutable

    device = getattr(executable, "device", None)

    def again(module: Any, inputs: Sequence[Any]) -> Any:
        made = replace(build, source=module, is_consumed=False)
        program = made.program()
        if device is not None:
            return DeviceExecutable(program, device, lambda: made)(*inputs)
        return HostExecutable(program, lambda: made, custom=made.custom)(*inputs)

    target = build.described_target().name if device is None else device.name
    options = {"target": target, "opt": build.opt}
    about = {"module": build.source, "entry": build.entry, "custom": build.custom}
    return {**about, "execute": again, "options": options}


_spent = 0.0
"""The time that `explained` has taken."""


def explained(run: Callable[[], object], test: str, failure: BaseException) -> str | None:
    """The message of a test that has failed, which is run again; None if it has no programs, or if
    others have taken all of the time."""
    global _spent
    if _spent > ALL_SECONDS:
        return None
    start, recorder = time.monotonic(), Recorder()
    with recorder.recording():
        try:
            run()
        except FAILURES as error:
            failure = error
    text = _reproducer(recorder.programs, test, failure)
    _spent += time.monotonic() - start
    if text is None:
        return None
    lines = f"{type(failure).__name__}: {failure}".splitlines()[:MOST_LINES]
    return "".join([text, *(f"// {line}\n" for line in lines)])


def _reproducer(programs: Sequence[Program], test: str, error: BaseException) -> str | None:
    """The text of the reproducer of the last program that is wrong; of the last one, if all are
    right. None if there is none."""
    from reproduced import Failed

    end = time.monotonic() + SECONDS
    for program in reversed(programs):
        with suppress(Exception):  # It is the failure of the test that is to be said.
            for failed, kinds in _judged(program, test, error):
                if time.monotonic() < end and failed.shows().startswith(tuple(kinds)):
                    return failed.reproducer()
    if not programs:
        return None
    about, last = f"{test}: the last of {len(programs)} programs that are right", programs[-1]
    text = Failed(about, last.module, last.inputs, "", lambda *_: "").reproducer()
    return text if len(text) <= MOST_TEXT else None


def _judged(program: Program, test: str, error: BaseException) -> Judged:
    """The failures that a program may have, each with the kinds of failures that it has then."""
    from finite_differences import failed_gradient
    from reproduced import Failed, disagreement, interpreting, with_memory

    from tgdialect.custom import NO_CUSTOM
    from tgdialect.runtime.compiler import parse_verified

    entry, inputs, kinds = program.entry, program.inputs, ("differs",)
    if program.is_differentiated:
        # Finite differences are those of f64.
        wide = parse_verified("differentiated.mlir", str(program.module).replace("f32", "f64"))
        if failed := failed_gradient(test, wide, _random_inputs(wide, entry), ""):
            yield failed, kinds
        return
    if program.error is not None:
        said = str(program.error)
        if program.error not in _chain(error) and not (said and said in str(error)):
            return
        kinds = (type(program.error).__name__,)
    module, passes = program.module, program.passes
    if program.execute is not None:
        inputs = inputs if program.error is None else _random_inputs(module, entry)
        interpret = interpreting(entry, program.custom or NO_CUSTOM)
        executors = (with_memory(each, entry) for each in (program.execute, interpret))
        wrong = disagreement(*executors)
        yield Failed(test, module, inputs, "", wrong, program.options, entry=entry), kinds
    for number, (each, _) in enumerate(program.passes, 1):
        if not _is_registered(each):
            passes = program.passes[number:]
    if passes:
        steps, module = [each for each, _ in passes], passes[0][1]
        inputs = inputs if program.error is None else _random_inputs(module, entry)
        kinds = kinds if program.error else ("differs", "InterpretationError", "VerifyException")
        yield Failed.after(steps, test, module, inputs, "", entry), kinds


def _is_registered(each: Any) -> bool:
    """Whether a command line can name a pass."""
    from tgdialect import registry

    make = registry.universe().all_passes.get(each.name)
    return make is not None and make() is type(each)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that it comes from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _random_inputs(module: Any, entry: str) -> Sequence[Any]:
    """Small numbers for the inputs of a program that has not been called."""
    from tgdialect.ops.arrays import numpy_dtype
    from tgdialect.ops.dtypes import INDEX
    from tgdialect.ops.properties import tensor_type
    from tgdialect.tools.examination import entry_of, inputs_of

    given, index = inputs_of(entry_of(module, entry)), tensor_type(INDEX)
    sizes = {
        i: np.clip(3, p.interval.lo, p.interval.hi) for i, p in enumerate(given) if p.type == index
    }
    random = np.random.default_rng(0)
    found: list[Any] = []
    for number, each in enumerate(given):
        dims = zip(each.type.get_shape(), each.dims, strict=True)
        shape = [sizes.get(source) if extent < 0 else extent for extent, source in dims]
        numbers = random.normal(size=shape) if each.dtype.is_float else random.integers(1, 4, shape)
        numbers = sizes.get(number, numbers)
        found.append(np.asarray(numbers).astype(numpy_dtype(each.dtype)))
    return found
