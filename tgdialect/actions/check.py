"""`check=True`: each kernel of a compiled program is compared with the interpreter, and so is the
program as a whole.

The first call with each signature is followed by a second run: the interpreter executes the
program's function at level `kernels`, and each kernel that it calls is compiled, alone, and runs on
the memory that the kernels before it have left. The same kernel is interpreted on the same memory,
with a bound of how far the results may be apart (`transforms/error_bound/`). So the first kernel
that is wrong is named, and those that use its results are not. Then the results of the call are
compared with the program as it was given: a difference that no kernel has is in the stages before,
in the order of the calls, or in the plan of the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError, PassFailedException

from tgdialect.actions.comparison import NOTHING, Judged, judge, judge_loosely
from tgdialect.actions.references import (
    MOST_OPERATIONS,
    Reference,
    TooLargeError,
    alone,
    operations,
    reference_of,
)
from tgdialect.analysis.constants import constant_slots
from tgdialect.custom import CustomCode
from tgdialect.diagnostics import CompilationError, file_location, names_text, operation_location
from tgdialect.interpreter import run
from tgdialect.interpreter.calls import CALLEES
from tgdialect.interpreter.memory import LiveView
from tgdialect.interpreter.run_context import Contents, Outcome, RunContext
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime import reproducer
from tgdialect.runtime.compiler import compile
from tgdialect.runtime.distributed.executable import ShardedExecutable
from tgdialect.runtime.executable import Executable, ParameterSlot, listed
from tgdialect.runtime.footprint import DeviceFootprint
from tgdialect.runtime.memory import ReleasedArray
from tgdialect.runtime.profile import Profile
from tgdialect.transforms.error_bound import UnboundedError, bound_errors

MOST_CALLS = 2
"""The most calls of one kernel that are compared, for each signature of the program. Larger: steps
of loops and equal layers take longer; smaller: a kernel that is wrong for some contents only is
found later."""


class CheckError(RuntimeError):
    """A compiled program computes another result than the interpreter."""


@dataclass(frozen=True)
class CheckResult:
    """The comparison of a kernel, or of the program as a whole; printed, a line."""

    name: str
    location: str
    judged: Judged = NOTHING
    rounding: str = ""
    """The source of the error that is allowed."""
    sample: float = 1.0
    """The fraction of the iterations that was compared."""
    reason: str = ""
    """Why nothing was compared."""

    def __str__(self) -> str:
        head = f"{self.name} ({self.location})" if self.location else self.name
        if self.reason:
            return f"{head}: not compared: {self.reason}"
        notes = [self.rounding] if self.rounding else []
        if self.sample < 1:
            notes.append(f"a sample: {self.sample:.2%} of the iterations")
        if self.judged.undecided:
            notes.append(f"{self.judged.undecided} elements are not decided")
        more = f" ({'; '.join(notes)})" if notes else ""
        if self.judged.difference:
            return f"{head}: result differs: {self.judged.difference}{more}"
        return f"{head}: {self.judged.cells} elements, bound {self.judged.bound:.2g}{more}"


Report = Callable[[CheckResult], object]
"""Gets a comparison."""


class CheckedProgram(NamedTuple):
    """The program as it was given, and the arguments of `compile`."""

    module: ModuleOp
    entry: str
    target: str | None
    opt: str
    custom: CustomCode

    @property
    def allowed(self) -> dict[str, Any]:
        """The code that it may execute, for the interpreter and for `compile`."""
        return {"allow_custom": self.custom.allowed, "custom": self.custom.functions}


class CheckedExecutable(Executable):
    """An executable whose calls with each signature are checked, until one has right results.

    `comparisons` are those of the last call that was checked, in the order of the kernels.
    """

    def __init__(self, executable: Executable, given: CheckedProgram) -> None:
        super().__init__(executable.parameters, (), executable.staged, ("", ""))
        self.executable = executable
        self.comparisons: list[CheckResult] = []
        self.listener: Callable[[CheckResult], object] = lambda _: None
        """Gets each comparison when it is done, before an error is raised."""
        self._run = _Check(executable, given)
        self._seen: set[object] = set()
        """The signatures whose results were right."""
        self._is_called = False
        self._is_paused = False

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """As `Executable.__call__`. Raises CheckError."""
        return self._checked(arrays, lambda given: self.executable(*given, out=out), listed(out))

    def resident(self, *arrays: Any) -> Any:
        return self._checked(arrays, lambda given: self.executable.resident(*given), None)

    @contextmanager
    def unchecked(self) -> Generator[None]:
        """Within the context calls are not checked: their results may be looked at."""
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    def _checked(
        self, arrays: Sequence[Any], call: Callable[[Sequence[Any]], Any], out: list[Any] | None
    ) -> Any:
        given = list(self.executable.completed(arrays))
        key = tuple(_kind(array) for array in given)
        if self._is_paused or key in self._seen or len(given) != len(self.inputs):
            return call(arrays)
        before = [np.array(array, order="C") for array in given]
        is_first, self._is_called = not self._is_called, True
        results = call(given)
        found = out or _results(results)
        written = {
            i: np.asarray(given[i])
            for i, parameter in enumerate(self.inputs)
            if parameter.by_reference and parameter.result is None
        }
        self.comparisons = []
        arrays = [np.asarray(each) for each in found]
        self._run(before, arrays, written, self._report, is_first=is_first)
        self._seen.add(key)
        return results

    def _report(self, compared: CheckResult) -> None:
        self.comparisons.append(compared)
        self.listener(compared)

    def profile(self, *arrays: Any, out: Any = None, seconds: float = 1.0) -> Profile:
        return self.executable.profile(*arrays, out=out, seconds=seconds)

    def footprints(self, frame: Sequence[Any]) -> tuple[DeviceFootprint, ...]:
        return self.executable.footprints(frame)

    def module(self, stage: str) -> ModuleOp:
        return self.executable.module(stage)

    def copied(self, array: Any) -> Any:
        return self.executable.copied(array)

    def release(self, reason: str) -> Mapping[int, ReleasedArray]:
        return self.executable.release(reason)

    def _given(self, slot: ParameterSlot, value: Any) -> Any:
        return value


def checked(executable: Executable, *given: Any) -> CheckedExecutable:
    """An executable whose first calls are checked; `given` are the fields of `CheckedProgram`."""
    return CheckedExecutable(executable, CheckedProgram(*given))


def _results(value: Any) -> list[Any]:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else [value]


def _kind(value: Any) -> object:
    """The part of an argument that the signature of a call has."""
    array = value if hasattr(value, "dtype") else np.asarray(value)
    is_size = not array.shape and array.dtype.kind in "iu"
    return (int(array) if is_size else array.shape), str(array.dtype)


class _Check:
    """The check of a program's results, given the inputs before the call."""

    def __init__(self, executable: Executable, given: CheckedProgram) -> None:
        self._executable = executable
        self._given = given
        self._tf32 = given.opt == "heuristic:tf32"
        self._compiled: dict[Operation, Callable[[Sequence[Array]], object]] = {}
        self._kernels: ModuleOp | None = None
        self._constants: Mapping[str, Any] = {}

    def __call__(
        self,
        inputs: Sequence[Array],
        results: Sequence[Array],
        written: Mapping[int, Array],
        report: Report,
        *,
        is_first: bool,
    ) -> None:
        """Compare; `written` are inputs that the program changes, by number, after the call."""
        if self._executable.buffers_kept and not is_first:
            reason = "its BUFFERs have contents of earlier calls"
            report(CheckResult("the program", "", reason=reason))
            return
        replayed = self._replay(inputs, written, report)
        self._compare_whole(inputs, results, written, replayed, report)

    # -- kernel by kernel

    def _replay(
        self, inputs: Sequence[Array], written: Mapping[int, Array], report: Report
    ) -> list[Array] | None:
        """The results of the program as its kernels compute them one by one, then the inputs that
        it writes; None if that is not possible. Raises CheckError for a wrong kernel."""
        try:
            if isinstance(self._executable, ShardedExecutable):
                raise PassFailedException("it is for several devices")
            if self._kernels is None:
                # The given module has the locations of its source.
                staged = replace(self._executable.staged(), source=self._given.module)
                self._kernels = staged.at_kernels()
                self._constants = constant_slots(self._kernels)
            callees = {tg.KernelOp.name: _Calls(self, report).call}
            copies = [each.copy() for each in inputs]
            allowed = self._given.allowed
            results = run(self._kernels, self._given.entry, copies, callees=callees, **allowed)
        except (PassFailedException, InterpretationError) as error:
            reason = f"the program is compared as a whole only: {error}"
            report(CheckResult("kernels", "", reason=reason.splitlines()[0]))
            return None
        return [*results, *(copies[i] for i in written)]

    def compiled(self, kernel: tg.KernelOp) -> Callable[[Sequence[Array]], object]:
        """A kernel, compiled alone: it changes the arrays of its parameters."""
        if (known := self._compiled.get(kernel)) is not None:
            return known
        name, given = kernel.sym_name.data, self._given
        executable = compile(
            self._alone(kernel, self._constants.get(name, frozenset())),
            entry=given.entry,
            target=given.target,
            opt=_options_for(given.opt, name),
            **given.allowed,
        )
        call = self._compiled[kernel] = lambda arrays: executable(*arrays)
        return call

    def _alone(self, kernel: tg.KernelOp, constants: Set[int]) -> ModuleOp:
        assert self._kernels is not None
        return alone(kernel, self._kernels, self._given.entry, constants)

    def reference(self, kernel: tg.KernelOp, arrays: Sequence[Array]) -> Reference:
        """The kernel with the bounds of its results. Raises UnboundedError and TooLargeError."""
        return reference_of(kernel, arrays, tf32=self._tf32)

    def wrong_kernel(
        self, kernel: tg.KernelOp, arrays: Sequence[Array], compared: CheckResult
    ) -> CheckError:
        """The error of a wrong kernel, which leaves the kernel alone, and its arguments."""
        return self._error(str(compared), str(self._alone(kernel, frozenset())), arrays)

    def _error(self, message: str, module: str, inputs: Sequence[Array]) -> CheckError:
        _, entry, target, opt, _ = self._given
        left = reproducer.leave(
            "check",
            module,
            target=target,
            options={"entry": entry, "opt": opt},
            inputs=inputs,
            error=message,
            command=f"tg-run --check {reproducer.RUN}",
        )
        where = "" if left is None else f"\n  the reproducer: {left}"
        return CheckError(f"check: {message}{where}")

    # -- the program as a whole

    def _compare_whole(
        self,
        inputs: Sequence[Array],
        results: Sequence[Array],
        written: Mapping[int, Array],
        replayed: Sequence[Array] | None,
        report: Report,
    ) -> None:
        found = [*results, *written.values()]
        try:
            wanted, errors = self._bounded(inputs, written)
        except (UnboundedError, TooLargeError, InterpretationError) as error:
            reason = str(error).splitlines()[0]
            if replayed is None:
                report(CheckResult("the program", "", reason=reason))
                return
            rounding = f"half of the digits, against its kernels one by one: {reason}"
            judged = judge_loosely(found, replayed, inputs)
            report(compared := CheckResult("the program", "", judged, rounding))
            if judged.difference:
                raise self._whole_error(f"{compared}\n  {_IN_PLAN}", inputs) from None
            return
        judged = _judged(found, wanted, errors)
        rounding = "rounding of all its ops"
        report(compared := CheckResult("the program", "", judged, rounding))
        if not judged.difference:
            return
        message = str(compared)
        if replayed is not None:
            is_before = _judged(replayed, wanted, errors).difference
            message += f"\n  {_BEFORE_KERNELS if is_before else _IN_PLAN}"
        raise self._whole_error(message, inputs)

    def _whole_error(self, message: str, inputs: Sequence[Array]) -> CheckError:
        return self._error(message, str(self._given.module), inputs)

    def _bounded(
        self, inputs: Sequence[Array], written: Mapping[int, Array]
    ) -> tuple[list[Array], list[Array]]:
        """The results of the program as it was given, then the inputs that it writes; and the
        bounds of their errors.

        Raises UnboundedError, TooLargeError, or InterpretationError.
        """
        module, entry = self._given.module.clone(), self._given.entry
        function = SymbolTable.lookup_symbol(module, entry)
        if not isinstance(function, FuncOp):
            raise UnboundedError(f"@{entry} is at level llvm")
        if any(tg.ALLOCATED & tg.argument_attributes(a).keys() for a in function.args):
            raise UnboundedError("its results are arguments, after level tensor")
        if (count := operations(function.body.block, inputs)) > MOST_OPERATIONS:
            raise TooLargeError(f"{count} operations")
        slots = bound_errors(function, tf32=self._tf32)
        copies = [each.copy() for each in inputs]
        shadows = [np.zeros(copies[slot].shape) for slot in slots]
        values = run(module, entry, [*copies, *shadows], **self._given.allowed)
        count = len(values) // 2
        of_memory = dict(zip(slots, shadows, strict=True))
        memory = [of_memory.get(i, np.zeros(copies[i].shape)) for i in written]
        return [*values[:count], *(copies[i] for i in written)], [*values[count:], *memory]


_BEFORE_KERNELS = (
    "each kernel computes what it says, and all together not what the program says: a stage before "
    "tg-optimize is wrong"
)
_IN_PLAN = (
    "each kernel, alone, is right: the order of the calls, the plan of the memory, or what a "
    "kernel packs once is wrong"
)


def _judged(found: Sequence[Array], wanted: Sequence[Array], errors: Sequence[Array]) -> Judged:
    total = NOTHING
    for a, b, error in zip(found, wanted, errors, strict=True):
        total += judge(a, b, error)
    return total


def _options_for(opt: str, kernel: str) -> str:
    """The explicit OptOps of a kernel among those of a program; other modes are those of all."""
    kind, colon, opts = opt.partition(":")
    if kind != "explicit":
        return opt
    steps = [step.strip() for step in opts.split(";")]
    of_kernel = [s for s in steps if not s.startswith("@") or s.startswith(f"@{kernel}:")]
    return f"{kind}{colon}{'; '.join(of_kernel)}" if of_kernel else "explicit:"


class _Calls:
    """The kernels of one run, each of which is compiled and compared."""

    def __init__(self, check: _Check, report: Report) -> None:
        self._check = check
        self._report = report
        self._count: dict[Operation, int] = {}

    def call(
        self,
        context: RunContext,
        kernel: tg.KernelOp,
        arguments: Sequence[Array],
        extra: Sequence[Array],
        shared: Mapping[int, LiveView],
    ) -> Outcome:
        """Run a kernel: one that calls others is interpreted, and these are compared."""
        interpreted = CALLEES[tg.KernelOp.name]
        if kernel.calls:
            return interpreted(context, kernel, arguments, extra, shared)
        name, location = f"kernel @{kernel.sym_name.data}", _location(kernel)
        count = self._count[kernel] = self._count.get(kernel, 0) + 1
        arrays = [np.array(each, order="C") for each in arguments]
        try:
            self._check.compiled(kernel)(arrays)
        except (CompilationError, UnboundedError) as error:
            reason = f"alone, it is refused: {str(error).splitlines()[0]}"
            self._report(CheckResult(name, location, reason=reason))
            return interpreted(context, kernel, arguments, extra, shared)
        if count <= MOST_CALLS:
            compared = CheckResult(name, location)
            try:
                reference = self._check.reference(kernel, arguments)
                bounds = [np.zeros(arguments[slot].shape) for slot in reference.slots]
                wanted = interpreted(context, reference.kernel, [*arguments, *bounds], (), {})
                judged = _judged_kernel(reference, arguments, arrays, wanted)
                rounding, sample = reference.rounding, reference.sample
                compared = replace(compared, judged=judged, rounding=rounding, sample=sample)
            except (UnboundedError, TooLargeError, InterpretationError) as error:
                compared = replace(compared, reason=str(error).splitlines()[0])
            self._report(compared)
            if compared.judged.difference:
                raise self._check.wrong_kernel(kernel, arguments, compared)
        _, written = context.effects(kernel)
        return Outcome(
            [],
            [
                _contents(new, old) if slot in written else None
                for slot, (new, old) in enumerate(zip(arrays, arguments, strict=True))
            ],
        )


def _judged_kernel(
    reference: Reference, before: Sequence[Array], after: Sequence[Array], wanted: Outcome
) -> Judged:
    """Compare the memory of a kernel. Where it stores nothing that is as before, unless only a
    sample of its iterations is known."""
    total = NOTHING
    for slot, (old, new) in enumerate(zip(before, after, strict=True)):
        if slot not in reference.slots:
            read = judge(new, old, np.zeros(old.shape))
            total += replace(read, cells=0)
    for i, slot in enumerate(reference.slots):
        contents, errors = wanted.contents[slot], wanted.contents[len(before) + i]
        if contents is None or errors is None:
            continue
        stored = errors.written() if reference.sample < 1 else None
        total += judge(after[slot], contents.data, errors.data, stored)
    return total


def _contents(new: Array, old: Array) -> Contents:
    def changed() -> Array:
        a, b = (x.reshape(-1).view(np.uint8).reshape(x.size, x.itemsize) for x in (new, old))
        return np.asarray((a != b).any(axis=1).reshape(new.shape))

    return Contents(new, changed)


def _location(kernel: tg.KernelOp) -> str:
    location = operation_location(kernel)
    if location is None:
        return ""
    if (names := names_text(location)) is not None:
        return names
    found = file_location(location)
    return "" if found is None else f"{found.filename.data}:{found.line.data}"
