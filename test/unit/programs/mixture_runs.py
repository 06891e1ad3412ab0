"""Whether all executors agree on mixtures, many at a time: one call of the C compiler, and one
program of OpenCL, for all of them."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from compiling import compile_module
from executors import as_sequence, fenced, junk
from expression import Array
from finite_differences import gradient_difference
from opencl_device import DEVICE, KIND
from random_in_place import random_in_place
from random_mixtures import Feature, Mixture, mixture
from slack import unexplained
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import InterpretationError, PassFailedException, VerifyException

from tgdialect.backends import c_compiler
from tgdialect.custom import NO_CUSTOM
from tgdialect.interpreter import run
from tgdialect.lowering.render.source.program import joined, sections_of
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.properties import is_memory, place, static_shape, tensor
from tgdialect.ops.source import BufferOp
from tgdialect.runtime import c_build
from tgdialect.runtime.compiler import prepared, target_of_device
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.devices.executable import DeviceExecutable
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.program import Object

SECONDS = 60
"""The time for one program on one executor: a longer one is an outcome of its own."""

IN_PLACE = 1_000_000
"""From this seed on, programs are those of `random_in_place.py`."""
REINTERPRETED = 2_000_000
"""From this seed on, they see memory in elements of other sizes as well."""

RULES = {
    r"^(a )?cycle: ": "semantics.md: program that needs both orders at once is refused as a cycle",
}
"""The refusals that a program may meet, and the sentence of docs/ that says so. All executors
refuse the same programs."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one program on one executor: nothing to say if it is right."""

    seed: int
    executor: str
    kind: str
    """"ok", "refused" by a rule, or else "differs", "refuses", "crashes" or "hangs"."""
    message: str = ""

    @property
    def is_right(self) -> bool:
        return self.kind in ("ok", "refused")

    def __str__(self) -> str:
        return f"{self.seed} {self.executor} {self.kind} {self.message}".strip()


@dataclass
class _Case:
    """A program, and what the interpreter says of it."""

    seed: int
    program: Mixture
    expected: list[Sequence[Array]] = field(default_factory=list)
    """For each run the results, then the memory that the program was given."""

    @property
    def entry(self) -> str:
        return f"p{self.seed}"


def program_of(seed: int) -> Mixture:
    """The program of a seed."""
    if seed < IN_PLACE:
        return mixture(seed)
    program = random_in_place(seed, reinterprets=seed >= REINTERPRETED)
    return Mixture(program.module, (program.inputs,), Feature.IN_PLACE)


def check(seeds: Sequence[int], begun: Callable[[str], None] = lambda text: None) -> list[Outcome]:
    """Outcomes of the programs of some seeds; `begun` hears what is about to be done, as a crash
    says nothing."""
    outcomes: list[Outcome] = []
    cases: list[_Case] = []
    for seed in seeds:
        begun(f"{seed} interpreter")
        case: _Case | None = None
        with _recorded(outcomes, seed, "interpreter", may_refuse=True):
            case = _Case(seed, program_of(seed))
            case.program.module.verify()
            _rename(case.program.module, case.entry)
            case = replace(case, program=replace(case.program, entry=case.entry))
            case.expected = _interpreted(case.program)
            cases.append(case)
            _check_gradient(case)
        if case is not None and outcomes[-1].kind == "refused":
            with _recorded(outcomes, seed, "cpu-heuristic", may_refuse=True):
                compile_module(case.program.module, entry=case.entry)
                raise _Differs("it accepts what the interpreter refuses")
    for opt in ("none", "heuristic"):
        for case in cases:
            begun(f"{case.seed} cpu-{opt}")
            with _recorded(outcomes, case.seed, f"cpu-{opt}"):
                _compare(case, compile_module(case.program.module, entry=case.entry, opt=opt))
    for name, make in (("c", _in_c), ("opencl", _on_opencl)):
        begun(f"{','.join(str(c.seed) for c in cases)} {name} compile")
        for case, executable in make(cases, outcomes):
            begun(f"{case.seed} {name}")
            with _recorded(outcomes, case.seed, name):
                _compare(case, executable())
    return outcomes


class _Differs(Exception):
    pass


@contextmanager
def _recorded(
    outcomes: list[Outcome], seed: int, executor: str, *, may_refuse: bool = False
) -> Generator[None]:
    """Append the outcome of a block. If it `may_refuse`, it does so by a rule of `RULES`."""

    def late(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    except _Differs as error:
        outcomes.append(Outcome(seed, executor, "differs", str(error)))
    except TimeoutError:
        outcomes.append(Outcome(seed, executor, "hangs"))
    except (InterpretationError, PassFailedException, VerifyException) as error:
        message = _first_line(error)
        ruled = may_refuse and any(re.search(rule, message) for rule in RULES)
        outcomes.append(Outcome(seed, executor, "refused" if ruled else "refuses", message))
    except Exception as error:
        outcomes.append(
            Outcome(seed, executor, "crashes", f"{type(error).__name__} {_first_line(error)}")
        )
    else:
        outcomes.append(Outcome(seed, executor, "ok"))
    finally:
        signal.alarm(0)


def _first_line(error: Exception) -> str:
    """An error's first line, or of another kind than ours all of them as one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = isinstance(error, InterpretationError | PassFailedException | VerifyException)
    return lines[0] if ours and lines else " | ".join(lines)[:600]


def _rename(module: ModuleOp, name: str) -> None:
    (function,) = (op for op in module.ops if isinstance(op, FuncOp) and not op.sym_visibility)
    function.sym_name = StringAttr(name)


def _interpreted(program: Mixture) -> list[Sequence[Array]]:
    """The results and the memory after each run. BUFFERs keep their contents."""
    buffers: dict[int, Array] = {
        op.slot.data: np.zeros(static_shape(tensor(op.result)), numpy_dtype_of(op.result))
        for op in program.module.walk()
        if isinstance(op, BufferOp)
        and place(op.result).addrspace is AddrSpace.GLOBAL
        and DYNAMIC_INDEX not in tensor(op.result).get_shape()
    }
    found: list[Sequence[Array]] = []
    for arrays in program.runs:
        given = [a.copy() for a in arrays]
        results = run(program.module, program.entry, given, buffers=buffers)
        found.append([*results, *(given[i] for i in _memories(program))])
    return found


def _memories(program: Mixture) -> Sequence[int]:
    """The positions of arguments that are memory."""
    (function,) = (op for op in program.module.ops if isinstance(op, FuncOp))
    return [i for i, argument in enumerate(function.args) if is_memory(argument)]


def _compare(case: _Case, executable: Any) -> None:
    """Raise if an executable does other than the interpreter."""
    for number, arrays in enumerate(case.program.runs):
        given = [fenced(a) if a.size else a.copy() for a in arrays]
        if isinstance(executable, HostExecutable) and not any(
            p.result is not None or None in p.shape for p in executable.parameters
        ):
            out = [fenced(junk(p.shape, p.dtype)) for p in executable.outputs]
            results = as_sequence(executable(*given, out=out))
        else:
            results = as_sequence(executable(*given))
        memories = (given[i] for i in _memories(case.program))
        together = [np.array(x) for x in (*results, *memories)]
        again = lambda number=number: _interpreted(case.program)[number]  # noqa: E731
        if wrong := unexplained(again, case.expected[number], together):
            raise _Differs(f"run {number}: {'; '.join(wrong)}")


def _check_gradient(case: _Case) -> None:
    """Raise if a gradient is not as finite differences say."""
    if (primal := case.program.primal) is None:
        return
    count = len(next(op for op in primal.ops if isinstance(op, FuncOp)).args)
    for arrays, expected in zip(case.program.runs, case.expected, strict=True):
        if wrong := gradient_difference(primal, arrays[:count], arrays[count:], expected):
            raise _Differs(wrong)


_Made = Iterator[tuple[_Case, Callable[[], Any]]]


def _in_c(cases: Sequence[_Case], outcomes: list[Outcome]) -> _Made:
    """Programs in C, as one translation unit."""
    made: list[tuple[_Case, HostExecutable, Any, str]] = []
    for case in cases:
        sources: list[str] = []

        def kept(source: str, sources: list[str] = sources, **options: bool) -> bytes:
            sources.append(source)
            return b""

        failed: list[Outcome] = []
        with (
            _recorded(failed, case.seed, "c"),
            patch.object(c_build, "object_code", kept),
            patch.object(c_build, "_ENTRY", f"{case.entry}_frame"),
        ):
            build = c_build.CBuild(case.program.module, case.entry)
            made.append((case, build.program(), build, sources[0]))  # type: ignore[arg-type]
        outcomes += [o for o in failed if o.kind != "ok"]
    flags = tuple("-O1" if flag == "-O2" else flag for flag in c_compiler.FLAGS)
    with patch.object(c_compiler, "FLAGS", flags):
        try:
            together = c_compiler.object_code(_together([source for *_, source in made]))
        except PassFailedException:  # One of them is wrong: each by itself.
            together = None
        for case, program, build, source in made:

            def executable(
                case: _Case = case, program: Any = program, build: Any = build, source: str = source
            ) -> HostExecutable:
                code = c_compiler.object_code(source) if together is None else together
                name = f"{case.entry}_frame"
                return HostExecutable(
                    replace(program, objects=(Object(name, code, name),)), lambda: build
                )

            yield case, executable


def _together(sources: Sequence[str]) -> str:
    return joined(sections_of(source) for source in sources)


def _on_opencl(cases: Sequence[_Case], outcomes: list[Outcome]) -> _Made:
    """Programs on a device, whose kernels are one program of OpenCL."""
    if not any(device.name == DEVICE for device in DEVICES):
        return
    device = DEVICES[DEVICE]
    made: list[tuple[_Case, Any, Any]] = []
    for case in cases:
        failed: list[Outcome] = []
        with _recorded(failed, case.seed, "opencl"):
            target = target_of_device(device)
            build = prepared(
                case.program.module, case.entry, "heuristic", NO_CUSTOM, target, device
            )
            made.append((case, build.program(), build))
        outcomes += [o for o in failed if o.kind != "ok"]
    if KIND != "CL":
        for case, program, build in made:
            yield case, lambda p=program, b=build: DeviceExecutable(p, device, lambda: b)
        return
    from tgdialect.runtime.devices import opencl

    texts = [kernel.code.decode() for _, program, _ in made for kernel in program.kernels]
    options = [*opencl.OPTIONS, "-cl-opt-disable"]
    driver: Any = device.driver
    try:
        together = opencl.cl.Program(driver.context, _together(texts)).build(options)
    except opencl.cl.Error:
        together = None

    def compiled(driver: Any, kernel: Any) -> Any:
        program = together
        if program is None:
            program = opencl.cl.Program(driver.context, kernel.code.decode()).build(options)
        return opencl._kernel_of(program, kernel)  # type: ignore

    with patch.object(opencl.OpenClDriver, "_compiled", compiled):
        for case, program, build in made:
            yield case, lambda p=program, b=build: DeviceExecutable(p, device, lambda: b)
