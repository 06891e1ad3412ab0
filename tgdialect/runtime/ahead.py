"""Ahead-of-time compilation: from a module at any level to a `ProgramFile`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from xdsl.dialects.builtin import ModuleOp

from tgdialect.analysis.data_files import check_data_files
from tgdialect.backends.commands import cubin
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.custom import CustomCode
from tgdialect.ops.printing import printed
from tgdialect.runtime.build import Build
from tgdialect.runtime.c_build import CBuild
from tgdialect.runtime.codegen import generated
from tgdialect.runtime.devices.build import DeviceBuild
from tgdialect.runtime.devices.device import DEVICES, KINDS
from tgdialect.runtime.devices.program import DeviceKernel, DeviceProgram
from tgdialect.runtime.images import NativeCode, digest_of
from tgdialect.runtime.launcher import launcher_ir
from tgdialect.runtime.program import DEFAULT_OPT, HOST, Program, with_contents
from tgdialect.runtime.program_file import AnyProgram, ProgramFile, this_system
from tgdialect.runtime.reproducer import reproducible
from tgdialect.runtime.threads import openmp_ir, pool_ir
from tgdialect.targets import DEFAULT_TARGET, TARGETS, Target, target_named
from tgdialect.targets.attribute import MODULE_ATTRIBUTE, TargetAttr, target_of
from tgdialect.targets.cpu import ARITHMETIC, PORTABLE, with_arithmetic_alone, without_implied
from tgdialect.targets.host import host_features, llvm_host
from tgdialect.targets.listed_features import listed_here


def compile_ahead(
    module: ModuleOp,
    entries: Sequence[str] = ("main",),
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    threads: int | None = None,
    opt: str = DEFAULT_OPT,
    allow_custom: bool = False,
) -> ProgramFile:
    """Compile functions of a verified module, which is not changed, for a machine that need not be
    this one. The bytes of files that it names are in the result.

    Args:
        module: a program at any level.
        entries: the names of the functions.
        target: one of `targets.TARGETS`; by default that of the device which the program names, or
            else "cpu". No device is needed.
        features: the features of the CPU, in LLVM's spelling; by default those that the module's
            `tg.target` states, or else this CPU's.
        threads: for how many threads loops are divided; by default this machine's. Any number
            executes them.
        opt, allow_custom: as for `tgdialect.compile`.

    Raises PassFailedException and VerifyException for programs that cannot be compiled, and
    CompilationError for bytes that a file has not got, and
    ValueError for an unknown target, a device whose target the caller has to name, and features or
    threads for another target than "cpu".
    """
    check_data_files(module)
    target = target or _target_of_device(module)
    words = ["tg-compile", "-o", "out.tgx", "--target", target, "--opt", opt]
    words += [word for entry in entries for word in ("--entry", entry)]
    words += [] if features is None else ["--features", ",".join(features)]
    words += [] if threads is None else ["--threads", str(threads)]
    words += ["--allow-custom"] if allow_custom else []
    with reproducible(lambda: str(module), command=shlex.join(words)):
        return _compiled(module, entries, target, features, threads, opt, allow_custom)


def _compiled(
    module: ModuleOp,
    entries: Sequence[str],
    target: str,
    features: Sequence[str] | None,
    threads: int | None,
    opt: str,
    allow_custom: bool,
) -> ProgramFile:
    """The program for a target that is settled."""
    if target != DEFAULT_TARGET and (features is not None or threads is not None):
        raise ValueError(f"features and threads are of the target {DEFAULT_TARGET}, not {target}")
    options = opt, CustomCode(allow_custom)
    if target == PORTABLE.name:
        programs = [CBuild(module, entry, *options).program() for entry in entries]
        return _host_file(entries, programs, target, ())
    if (described := target_named(target)).is_grid:
        kinds = [kind.target for kind in KINDS.values()]
        if target.partition(":")[0] not in kinds:
            there_are = ", ".join((DEFAULT_TARGET, PORTABLE.name, *kinds))
            raise ValueError(f"nothing loads programs for {target}, only for {there_are}")
        made = [DeviceBuild(module, entry, *options, described).program() for entry in entries]
        assembled = [_assembled(with_contents(program), described) for program in made]
        return ProgramFile(dict(zip(entries, assembled, strict=True)), target)
    machine = _cpu(module, features, threads)
    code = CpuTarget.of(machine)
    builds = [Build(module, entry, *options, code, machine=machine) for entry in entries]
    needs = without_implied(machine.features)
    return _host_file(entries, [build.program() for build in builds], target, needs)


def _target_of_device(module: ModuleOp) -> str:
    """The target of the device that a program names, or of the host."""
    named = {*printed(module).devices} or {HOST}
    if len(named) > 1 or "" in named:
        raise ValueError("the program names several devices: name one target for all of them")
    kind = DEVICES.canonicalize(name := named.pop()).partition(":")[0]
    target = DEFAULT_TARGET if kind == HOST else KINDS[kind].target if kind in KINDS else ""
    if target not in TARGETS:
        raise ValueError(
            f"the program names the device {name}: name its target (tg-compile --help lists them)"
        )
    return target


def _cpu(module: ModuleOp, features: Sequence[str] | None, threads: int | None) -> Target:
    """The CPU to compile for. It has no feature that `load` could not look for."""
    attribute = module.attributes.get(MODULE_ATTRIBUTE)
    is_stated = isinstance(attribute, TargetAttr) and attribute.target == DEFAULT_TARGET
    stated = module if is_stated and (features is None or len(features) > 0) else None
    if features is None and stated is None:
        features = listed_here(sorted(ARITHMETIC.intersection(host_features())))
    return with_arithmetic_alone(target_of(stated, None, tuple(features or ()), threads=threads))


def _host_file(
    entries: Sequence[str], programs: Sequence[Program], target: str, features: Sequence[str]
) -> ProgramFile:
    programs = [*map(with_contents, programs)]
    code = b"".join(each.code for program in programs for each in program.objects)
    named = dict[str, AnyProgram](zip(entries, programs, strict=True))
    native = native_code(has_threads=b"tg_parallel" in code)
    return ProgramFile(named, target, this_system(), tuple(features), native)


@cache
def native_code(*, has_threads: bool) -> tuple[NativeCode, ...]:
    """The code of the runtime that programs are called and divided among threads by."""
    texts = {"launcher": launcher_ir()}
    if has_threads:
        texts |= {"pool": pool_ir(), "openmp": openmp_ir()}
    code = CpuTarget(llvm_host()[0]).object_code
    return tuple(NativeCode(name, digest_of(ir), generated(code, ir)) for name, ir in texts.items())


def _assembled(program: DeviceProgram, target: Target) -> DeviceProgram:
    """A program whose PTX, if it has any, is machine code."""
    gpu = target.name.partition(":")[2]

    def assembled(kernel: DeviceKernel) -> DeviceKernel:
        code = cubin(kernel.text, gpu) if kernel.is_ptx else kernel.code
        return replace(kernel, code=code, is_binary=kernel.is_ptx or kernel.is_binary)

    return replace(program, kernels=tuple(map(assembled, program.kernels)))
