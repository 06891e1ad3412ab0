"""`compile`: from a program in any form to something that can be called.

For a text that is in the object cache, the compiler is not even imported.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from tgdialect.backends.headroom import check_memory_for_library
from tgdialect.custom import NO_CUSTOM, CustomCode, CustomFunction, Registered, kernels_in
from tgdialect.ops.data_files import DataFileError
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.cache import ObjectCache, cache_key, cached, object_cache
from tgdialect.runtime.devices.device import DEVICES, PROCESS, Device
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.devices.executable import DeviceExecutable
from tgdialect.runtime.devices.program import DeviceProgram
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.memory import PIECE, Ahead, Block
from tgdialect.runtime.program import DEFAULT_OPT, HOST, Program
from tgdialect.runtime.speed import imported
from tgdialect.targets import DEFAULT_TARGET, INTERPRETER, MPI, TARGETS, Target, target_named
from tgdialect.targets.cpu import PORTABLE
from tgdialect.targets.host import host_cpu, host_target, loads_anywhere

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tgdialect.ops.call import KernelOp
    from tgdialect.ops.printing import PrintedProgram
    from tgdialect.runtime.find_windows import Place
    from tgdialect.runtime.staged import StagedModule

_PLACE = "tg.place"
"""A text without this names no device: it need not be parsed to know that."""
_FILE = "file"
_FILE_WORD = re.compile(rf"(?<![\w.$-]){_FILE}(?=[\s\"/])")
"""A text without this word has no data of files."""

_MODULE = "<module>"
"""The name of a program that has no file, and is no text."""

AnyProgram = Program | DeviceProgram
P = TypeVar("P", bound=Program | DeviceProgram)

Callback = Callable[..., "Array | tuple[Array, ...]"]


def compile(
    source: str | os.PathLike[str] | ModuleOp,
    *,
    entry: str = "main",
    target: str | None = None,
    opt: str = DEFAULT_OPT,
    allow_custom: bool = False,
    custom: Registered | None = None,
    data_folder: str | os.PathLike[str] | None = None,
    is_verified: bool = False,
    check: bool = False,
) -> Executable | Callback:
    """Compile the function `entry` of a program at any level (docs/ir.md, "Levels").

    A program in another vocabulary that a plug-in upgrades (docs/extending.md) is upgraded.

    Args:
        source: MLIR text, a path, whose extension says its format, or an xDSL module, which is
            left as it is unless `is_verified`. A `str` with a newline or a brace is text.
        entry: the name of the function to call.
        target: a device, as "CL:0", or one of `targets.TARGETS`, whose programs run on the first
            device that can; "interpreter" for the reference semantics; or "mpi", if device number k
            of the program is the process of rank k. It stands for all devices that the program
            names. By default these are used (docs/devices.md); for a program that names none, or
            "CPU" alone, the device that `TG_DEVICE` names, or else this CPU.
        opt: the mode of `tg-optimize`: "heuristic", "heuristic:tf32" if f32 products may round
            their factors to tf32, "none" for the loops as they are, "beam:N" for a search that
            times schedules on this machine (`tgdialect/runtime/optimize.py`), or OptOps, as
            "explicit:split 0, 8, upcast; @main_1: order 1, 0". Kernels that record OptOps keep
            them, and have others applied only if they are explicit.
        allow_custom: execute CUSTOM, CUSTOMFUNCTION, INS of unknown targets and the BINARY of a
            PROGRAM, which carry code of their own, and modules from level `linear` on, where
            nothing checks memory accesses.
        custom: functions that stand for CUSTOMs and CUSTOMFUNCTIONs, and kernels for the latter, by
            name (`tgdialect.custom`); they need `allow_custom`.
        data_folder: the folder of the files whose bytes a text names (`#tg.data<file ...>`), by
            default that of the text's own file, or the working directory for a text without one.
        check: compare each kernel, and the program, with the interpreter in the first call with
            each signature (docs/debugging.md, "Checking"): a call raises
            `tgdialect.actions.check.CheckError` where a result is wrong.
        is_verified: the source is a module that is known to be valid, in ops of `tg`, and that
            nobody needs afterwards: it may be changed.

    Returns:
        A callable on NumPy arrays (or anything with DLPack), one for each argument of the function;
        it returns an array, or a tuple of them where the function has several results.

    Raises:
        CompilationError: the program is not valid, or cannot be compiled, or a file has not got the
            bytes that it names.
        DeviceError: there is no such device, or it refuses a kernel.
        ValueError: there is no such target, the interpreter is given a schedule, functions are
            registered without `allow_custom`, or there is a `data_folder` for a program that is no
            text.
        MemoryError: there is too little memory to compile.
    """
    kernels = kernels_in(custom or {})
    functions = {name: f for name, f in (custom or {}).items() if name not in kernels}
    code = CustomCode(allow_custom, cast("Mapping[str, CustomFunction]", functions))
    if kernels and not allow_custom:
        raise ValueError("kernels are registered, and allow_custom is not set")
    program = _source(source, kernels, is_verified=is_verified, data_folder=data_folder)
    if target == INTERPRETER:
        if opt not in ("none", DEFAULT_OPT):
            raise ValueError(f"opt={opt!r} schedules compiled kernels: the interpreter takes none")
        return _interpreted(program, entry, code)
    make = _sharded if program.is_split(target) else _on_one_device
    if not check:
        return make(program, target, entry, opt, code)
    given = program.verified().clone()
    return _checked(make(program, target, entry, opt, code), given, entry, target, opt, code)


class _Source:
    """A program: a text, which is parsed when it has to be compiled, or a module."""

    def __init__(
        self,
        name: str,
        given: str | ModuleOp,
        kernels: Mapping[str, KernelOp] = {},
        *,
        is_verified: bool = False,
        data_folder: str | None = None,
    ) -> None:
        """`name` is that of the text's file, for errors. A module that `is_verified` may be
        changed. `kernels` take the place of the CUSTOMFUNCTIONs of their names. `data_folder` has
        the files whose bytes a text names, if it is not that of the text's file."""
        self.name = name
        self._data_folder = data_folder
        self._kernels = kernels
        if kernels and not isinstance(given, str):
            module = given if is_verified else load_module(given).clone()
            given, is_verified = self._linked(module, ""), True
        self._given = given
        self._is_verified = is_verified
        self.is_text = isinstance(given, str)
        self.is_ours = self.is_text or is_verified

    def _linked(self, module: ModuleOp, text: str) -> ModuleOp:
        """A module of this program, from its text, with the kernels."""
        if self._kernels:
            from tgdialect.diagnostics import SourceFile, errors_in
            from tgdialect.transforms.link_kernels import link_kernels

            with errors_in(SourceFile(self.name, text)):
                link_kernels(module, self._kernels)
        return module

    @cached_property
    def _printed(self) -> PrintedProgram:
        from tgdialect.ops.printing import printed

        return printed(self.module())

    @property
    def text(self) -> str:
        """The program as text, without the kernels if it was given as one. That of a module has the
        names in its locations."""
        return self._given if isinstance(self._given, str) else self._printed.text

    @cached_property
    def key(self) -> str:
        """A text that is the same for the same program, whatever nodes its locations name."""
        kernels = (f"{name}\n{kernel}" for name, kernel in sorted(self._kernels.items()))
        text = self._given if isinstance(self._given, str) else self._printed.key
        return "\n".join((text, *kernels, *map(repr, self.folders)))

    @cached_property
    def folders(self) -> Sequence[str]:
        """The folders of the files whose bytes the program names, in the order of these: its text
        has names in them only. A text may be parsed as one that names files without doing so."""
        if not (_FILE in self.text and _FILE_WORD.search(self.text)):
            return ()
        if self.is_text:
            folder = self._data_folder
            return (os.path.realpath(os.path.dirname(self.name) if folder is None else folder),)
        from tgdialect.analysis.data_files import data_files

        return [data.folder for _, data in data_files(self.module())]

    def check_files(self) -> None:
        """Raise CompilationError, at an op, for bytes that a file has not got."""
        if self.folders:
            self._check_files(self.module())

    def _check_files(self, module: ModuleOp) -> ModuleOp:
        """A module of this program. Raises as `check_files`."""
        if self.folders:
            from tgdialect.analysis.data_files import check_data_files

            with self.errors():
                check_data_files(module)
        return module

    @cached_property
    def devices(self) -> frozenset[str]:
        """The devices that the program names, as its printer says; "" stands for lists of several.
        The object cache has what was said about a text."""
        if not isinstance(self._given, str):
            return self._printed.devices
        if _PLACE not in self._given:
            return frozenset()
        say = lambda: json.dumps(sorted(self._printed.devices)).encode()  # noqa: E731
        return frozenset(json.loads(cached(say, "devices", self.key)))

    def module(self) -> ModuleOp:
        """The module, as it was given or new."""
        given = self._given
        if not isinstance(given, str):
            return given
        parsed = parse_verified(self.name, given, data_folder=self._data_folder)
        return self._linked(parsed, given)

    @property
    def shown(self) -> tuple[str, str]:
        """The name and the text that errors show. A module of a file of bytes has no lines."""
        return self.name, self.text if self.is_text else ""

    def kept(self) -> _Source:
        """The same program, which stays when this one is consumed: its text, or a copy of a module
        that names files of several folders, which the text lacks."""
        if len(folders := {*self.folders}) > 1:
            return _Source(self.name, self._upgraded().clone(), is_verified=True)
        # An absolute path, as the process may move.
        folder = folders.pop() if folders else None
        name = self.name if self.is_text else _MODULE
        return _Source(name, self.text, self._kernels, data_folder=folder)

    def verified(self) -> ModuleOp:
        """The module, verified and in ops of `tg`, whose files have all bytes that it names."""
        return self._check_files(self._upgraded())

    def _upgraded(self) -> ModuleOp:
        """The module, verified and in ops of `tg`."""
        module = self.module()
        return module if self.is_text or self._is_verified else load_module(module)

    def is_split(self, target: str | None) -> bool:
        """Whether each device of the program has a program of its own: a value is on several, or
        on a process of MPI, or it names several and no target stands for all of them."""
        is_split = any(not each or each.startswith(f"{PROCESS}:") for each in self.devices)
        return is_split or (target is None and len(self.devices) > 1)

    def errors(self) -> AbstractContextManager[None]:
        """Within it errors are CompilationErrors of this program."""
        from tgdialect.diagnostics import SourceFile, errors_in

        return errors_in(SourceFile(*self.shown))


def _on_one_device(
    source: _Source, target: str | None, entry: str, opt: str, custom: CustomCode
) -> Executable:
    """Compile a program for one device: that of the target, or else the one that it names."""
    named = source.devices - {HOST} if target is None else ()
    try:
        device = DEVICES[min(named)] if named else device_for(target)
    except DeviceError as error:
        if not named:
            raise
        message = f"the program names the device {min(named)}, and no target stands for it: {error}"
        raise DeviceError(message) from error
    described = PORTABLE if target == PORTABLE.name else target_of_device(device)
    kept = source.kept()  # Before it is consumed.
    options = entry, opt, custom
    kind = Program if device.is_host else DeviceProgram
    cache, memory = object_cache(), None

    def build(module: ModuleOp) -> StagedModule:
        return prepared(module, *options, described, device)

    def compiled() -> tuple[AnyProgram, Block | None]:
        check_memory_for_library()
        _import_compiler(described)
        # Late, as the compiler is.
        from tgdialect.runtime.reproducer import reproducible

        module = source.verified()
        about = {"target": target, "options": {"entry": entry, "opt": opt}}
        about["command"] = _command(kept, custom)

        def make() -> AnyProgram:
            with reproducible(lambda: kept.text, **about), source.errors():
                staged = replace(build(module), is_consumed=source.is_ours)
                program = cast(AnyProgram, staged.program())
            return _without_name(program, source.name) if source.is_text else program

        return with_constant_memory(cache, module, described, make)

    if cache is None:
        program, memory = compiled()
    else:
        places = _Places(source)
        if not source.is_text:
            source.check_files()  # They may have changed since the module was made.
        cpu = _host_key(described, source) if device.is_host else ""
        key = cache_key(source.key, places.key, cpu, str(described), *map(repr, options))
        if (data := cache.get(key)) is not None:
            program = places.here(kind.from_bytes(data))
        else:
            with cache.locked(key):
                if (data := cache.get(key)) is not None:  # Another process has compiled it.
                    program = places.here(kind.from_bytes(data))
                else:
                    program, memory = compiled()
                    cache.put(key, places.anywhere(program).to_bytes())
    of = source.shown if source.name != _MODULE else ("", "")
    inspected = lambda: build(kept.module())  # noqa: E731
    try:
        if isinstance(program, DeviceProgram):
            return DeviceExecutable(program, device, inspected, source=of)
        is_aligned = described.name == PORTABLE.name or not loads_anywhere()
        more: dict[str, Any] = {"memory": memory, "custom": custom, "is_aligned": is_aligned}
        return HostExecutable(program, inspected, source=of, **more)
    except OSError as error:
        from tgdialect.diagnostics import CompilationError, Diagnostic

        if isinstance(error, DataFileError):
            kept.check_files()  # Says at which op.
        raise CompilationError(Diagnostic(str(error))) from error


def _command(source: _Source, custom: CustomCode) -> str:
    """The command that runs a program again, up to its file: what its text cannot allow or know."""
    folder = "".join(f" --data-folder {shlex.quote(each)}" for each in source.folders[:1])
    return f"tg-run{folder}{' --allow-custom' * custom.allowed} --run-reproducer"


def _import_compiler(target: Target) -> None:
    """Import what a compilation needs, all at once, while LLVM warms up for a CPU."""
    host_build = "c_build" if target.name == PORTABLE.name else "build"
    build = "devices.build" if target.is_grid else host_build
    if build == "build":
        imported("tgdialect.runtime.warm_up").warm_up_llvm()
    for name in (
        "fast_xdsl.llvm_formats",
        "diagnostics",
        "dialect",
        "registry",
        f"runtime.{build}",
    ):
        imported(f"tgdialect.{name}")


def _sharded(
    source: _Source, target: str | None, entry: str, opt: str, custom: CustomCode
) -> Executable:
    """Compile a program with values on several devices."""
    from tgdialect.runtime.distributed.executable import build

    def compiled(module: ModuleOp, part: str, device: str | None) -> Executable:
        return _on_one_device(_Source(_MODULE, module), device, part, opt, custom)

    if target not in (None, MPI):
        target = device_for(target).name
    module = source.verified()
    with source.errors():
        return build(module, entry, target, compiled)


def device_for(target: str | None) -> Device:
    """The device that a target or device name stands for. None is the default device.

    Raises ValueError for a name that is neither, and DeviceError if there is no such device.
    """
    if target is None or target == MPI:
        return DEVICES[DEVICES.DEFAULT]
    if target in (DEFAULT_TARGET, PORTABLE.name):
        return DEVICES[HOST]
    if target in TARGETS:
        return DEVICES.for_target(target)
    try:
        name = DEVICES.canonicalize(target)
    except DeviceError:
        there_are = ", ".join((*TARGETS, INTERPRETER))
        raise ValueError(
            f"there is no target {target!r}; there are: {there_are}; and devices, as CL:0"
        ) from None
    return DEVICES[name]


def target_of_device(device: Device) -> Target:
    """The target that programs for a device are compiled for, with the sizes of the device."""
    if device.is_host:
        return host_target()
    limits = device.limits
    return replace(
        target_named(device.target),
        workgroup=limits.workgroup,
        local=limits.local,
        units=limits.units,
        view_alignment=limits.alignment,
        has_f64=limits.has_f64,
    )


def _without_name(program: AnyProgram, name: str) -> AnyProgram:
    """The program for the same text under any name: the cache knows a text by its contents."""
    windows = (w._replace(file="") if w.file == name else w for w in program.windows)
    return replace(program, windows=tuple(windows))


class _Places:
    """The places of windows in a module. The cache knows a module by its text without locations,
    and has the numbers of the ops for places."""

    def __init__(self, source: _Source) -> None:
        self._known: Sequence[Place] = ()
        if not source.is_text:
            from tgdialect.runtime.find_windows import window_places

            self._known = window_places(source.module())

    @property
    def key(self) -> str:
        """Which ops have the same place."""
        numbers: dict[Place, int] = {}
        return " ".join(str(numbers.setdefault(place, len(numbers))) for place in self._known)

    def anywhere(self, program: AnyProgram) -> AnyProgram:
        """The program for all equal modules."""
        if not (self._known and program.windows):
            return program
        from tgdialect.runtime.find_windows import with_numbers

        return replace(program, windows=with_numbers(program.windows, self._known))

    def here(self, program: P) -> P:
        """The program for this module."""
        if not (self._known and program.windows):
            return program
        from tgdialect.runtime.find_windows import with_places

        return replace(program, windows=with_places(program.windows, self._known))


def _host_key(target: Target, source: _Source) -> str:
    """A text for all that the code of a program on this machine depends on, besides the program.

    Raises CompilationError, of that program, if the target needs a C compiler and there is none.
    """
    if target.name != PORTABLE.name:
        return host_cpu()
    from tgdialect.backends.c_compiler import compiler_version

    with source.errors():
        return f"{host_cpu()} {compiler_version()}"


def prepared(
    module: ModuleOp,
    entry: str = "main",
    opt: str = DEFAULT_OPT,
    custom: CustomCode = NO_CUSTOM,
    target: Target | None = None,
    device: Device | None = None,
) -> StagedModule:
    """The compilation of a module for a target, by default this CPU. For a CPU it imports LLVM."""
    if target is not None and target.is_grid:
        from tgdialect.runtime.devices.build import DeviceBuild

        name = None if device is None else device.name
        return DeviceBuild(module, entry, opt, custom, target, device=name)
    if target is not None and target.name == PORTABLE.name:
        from tgdialect.runtime.c_build import CBuild

        return CBuild(module, entry, opt, custom)
    from tgdialect.runtime.build import Build

    return Build(module, entry, opt, custom)


def load_module(source: str | os.PathLike[str] | ModuleOp) -> ModuleOp:
    """The verified module of MLIR text, a path, or a module itself.

    Raises CompilationError, which names file, line and column.
    """
    from tgdialect.diagnostics import verify_module
    from tgdialect.registry import make_context, upgrade, upgrades_for

    if isinstance(source, str | os.PathLike):
        return _source(source).module()
    _check_is_module(source)
    verify_module(source)
    if not upgrades_for(source):
        return source
    upgraded = source.clone()
    upgrade(upgraded, make_context())
    return upgraded


def _check_is_module(source: object) -> None:
    from xdsl.dialects.builtin import ModuleOp

    if not isinstance(source, ModuleOp):
        kind = type(source).__name__
        raise TypeError(
            f"compile takes MLIR text, a path, an xDSL module or a Python function, got {kind}"
        )


def _source(
    source: str | os.PathLike[str] | ModuleOp,
    kernels: Mapping[str, KernelOp] = {},
    *,
    is_verified: bool = False,
    data_folder: str | os.PathLike[str] | None = None,
) -> _Source:
    """A program in any form, with kernels for some of its CUSTOMFUNCTIONs. Raises CompilationError
    if it cannot be read, and ValueError for a folder for what is no text."""
    folder = None if data_folder is None else os.fspath(data_folder)
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return _Source("<string>", source, kernels, data_folder=folder)
    if not isinstance(source, str | os.PathLike):
        _check_is_module(source)
        _refuse_folder(folder, "a module, whose attributes have folders")
        return _Source(_MODULE, source, kernels, is_verified=is_verified)
    file = os.fspath(source)
    if os.path.splitext(file)[1] not in ("", ".mlir"):  # Else plug-ins are not looked through.
        from tgdialect.input_formats import TextFrontend
        from tgdialect.registry import frontend_of

        if not isinstance(frontend_of(file), TextFrontend | None):
            _refuse_folder(folder, f"the format of {file}")
            return _Source(file, parse_verified(file, ""), kernels, is_verified=True)
    try:
        text = Path(file).read_bytes().decode()
        return _Source(file, text, kernels, data_folder=folder)
    except (OSError, UnicodeDecodeError):
        from tgdialect.diagnostics import read_source

        read = read_source(file)  # Says what is wrong with it.
        return _Source(read.name, read.text, kernels, data_folder=folder)


def _refuse_folder(folder: str | None, what: str) -> None:
    if folder is not None:
        raise ValueError(f"data_folder= is for programs in text, and not for {what}")


def parse_verified(
    name: str, text: str, format: str | None = None, *, data_folder: str | None = None
) -> ModuleOp:
    """The verified module, in ops of `tg`, of a file that `registry.read_program` has read."""
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func

    from tgdialect.diagnostics import CompilationError, SourceFile, errors_in, verify_module
    from tgdialect.dialect import TG
    from tgdialect.fast_xdsl.context import FastContext
    from tgdialect.registry import make_context, parse_program, upgrade

    source, context = SourceFile(name, text, data_folder=data_folder), FastContext()
    for dialect in (Builtin, Func, TG):
        # Loading a dialect that the text does not name would take a millisecond.
        context.register_dialect(dialect.name, lambda dialect=dialect: dialect)
    with errors_in(source):
        try:
            module = parse_program(context, source, format)
        except CompilationError:
            # Finding all dialects takes long, and is worth it for what the error may say.
            module = parse_program(context := make_context(), source, format)
        verify_module(module)
        upgrade(module, context)
    return module


def _interpreted(source: _Source, entry: str, custom: CustomCode) -> Callback:
    """A callable that runs a program in the interpreter, which the universe names. Errors are
    CompilationErrors."""
    from xdsl.utils.exceptions import InterpretationError

    from tgdialect.diagnostics import CompilationError, SourceFile, diagnose, errors_in
    from tgdialect.plugin import named
    from tgdialect.runtime.staged import check_code
    from tgdialect.universe import INTERPRETER as RUN

    run = named(RUN)
    file = SourceFile(*source.shown)
    module = source.verified()
    with errors_in(file):
        check_code(module, custom)

    def call(*arrays: Any) -> Array | tuple[Array, ...]:
        inputs = [np.asarray(array) for array in arrays]
        try:
            options = {"allow_custom": custom.allowed, "custom": custom.functions}
            results: Sequence[Array] = run(module, entry, inputs, **options)
        except InterpretationError as error:
            raise CompilationError(diagnose(error)).with_source(file) from error
        return results[0] if len(results) == 1 else tuple(results)

    return call


def _checked(
    executable: Executable, module: ModuleOp, entry: str, target: str | None, *options: Any
) -> Executable:
    """An executable that compares itself with the interpreter, which is in a higher layer: the
    universe names what makes it."""
    from tgdialect.plugin import named
    from tgdialect.universe import CHECK

    return named(CHECK)(executable, module, entry, target, *options)


MEMORY_PREFIX = "memory-"
"""The prefix of the names of entries about memory for what is derived from constants."""

_CONSTANT = "tg.constant"


def with_constant_memory(
    cache: ObjectCache | None, module: ModuleOp, target: Target, compiled: Callable[[], P]
) -> tuple[P, Block | None]:
    """The program that `compiled` makes of a module, and memory for the values that are derived
    from its constants, as packed weights, if it was known how much that would be: another thread
    uses it for the first time meanwhile.

    Its size is known when the program is compiled. But a program that has been edited usually packs
    as much as before, so the object cache has the size for the last program with constants of the
    same types. A wrong size costs some work of that thread, and no more.
    """
    if cache is None or not (constants := _types_of_constants(module)):
        return compiled(), None
    key = MEMORY_PREFIX + cache_key(str(target), *constants)
    known = int(cache.get(key) or 0)
    with Ahead(known) as ahead:
        program = compiled()
    nbytes = max((p.nbytes for p in program.parameters if p.role == "persistent"), default=0)
    if nbytes >= PIECE and nbytes != known:
        cache.put(key, str(nbytes).encode())
    return program, ahead.block


def _types_of_constants(module: ModuleOp) -> Sequence[str]:
    """The types of the arguments, PARAMs and BINARYs that are constants."""
    from tgdialect.analysis.symbols import own_functions  # Late: they import the compiler.
    from tgdialect.fast_xdsl.walk import nested_ops
    from tgdialect.ops import tg

    types: list[str] = []
    for function in own_functions(module):
        types += [str(a.type) for a in function.args if _CONSTANT in tg.argument_attributes(a)]
        params = [op for op in function.body.block.ops if isinstance(op, tg.ParamOp)]
        types += [str(op.result.type) for op in params if _CONSTANT in op.attributes]
        binaries = [op for op in nested_ops(function) if isinstance(op, tg.BinaryDataOp)]
        types += [str(op.result.type) for op in binaries]
    return types
