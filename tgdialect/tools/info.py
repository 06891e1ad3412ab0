"""`python -m tgdialect.info`: what is installed, what the machine is, what the environment says.

For reports of errors, and to find out why a program runs as it does. Nothing optional is needed: a
line about what is missing says what to install.
"""

import json
import os
import platform
import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import llvmlite.binding as llvm

import tgdialect
from tgdialect.backends.c_compiler import compiler
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.environment import OPENMP
from tgdialect.runtime.cache import object_cache
from tgdialect.runtime.devices.device import DEVICES, KINDS, Device, reason_for_none
from tgdialect.runtime.text import show_bytes
from tgdialect.runtime.threads import parallel_runtime
from tgdialect.targets.cpu import without_implied
from tgdialect.targets.host import (
    cache_sizes,
    host_features,
    host_model,
    host_target,
    threads_and_source,
)
from tgdialect.tools.console import ConsoleParser, exit_code, show

PROGRAM = "python -m tgdialect.info"
_PACKAGES = ("tgdialect", "xdsl", "llvmlite", "numpy", "ml_dtypes", "safetensors")
_BYTES = "_bytes"
"""How the names of entries end that are sizes: text shows them with a unit."""
_WIDTH = 100
"""The width of lines, in characters."""

Section = Mapping[str, Any]


def information() -> Mapping[str, Section]:
    """The output of `python -m tgdialect.info --json`, by section. An entry that cannot be found
    out is the text of the error."""
    return {
        "versions": _versions(),
        "cpu": _cpu(),
        "threads": _threads(),
        "object cache": _object_cache(),
        "devices": _devices(),
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith("TG_")},
    }


def shown(sections: Mapping[str, Section]) -> str:
    """Sections as text, with a column of names and one of values."""
    names = [name.removesuffix(_BYTES) for section in sections.values() for name in section]
    width = max(map(len, names)) + 2
    lines: list[str] = []
    for title, section in sections.items():
        lines += ["", title] if lines else [title]
        for name, value in section.items():
            start = f"  {name.removesuffix(_BYTES):<{width}}"
            text = _entry(name, value)
            lines += textwrap.wrap(
                text, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
            )
        if not section:
            lines.append("  none")
    return "\n".join(lines)


def _entry(name: str, value: Any) -> str:
    match value:
        case int() if name.endswith(_BYTES):
            return show_bytes(value)
        case list():
            return " ".join(cast("list[str]", value)) or "none"
        case dict():
            entries = cast("dict[str, Any]", value)
            return ", ".join(_entry(key, each) for key, each in entries.items())
        case _:
            return str(value)


def _or_error(find: Callable[[], Any]) -> Any:
    """The result of a function, or the text of the error that it raises."""
    try:
        return find()
    except Exception as error:  # Whatever a driver raises: the other lines are wanted all the same.
        return str(error) or type(error).__name__


# -- sections --------------------------------------------------------------------------------------


def _versions() -> Section:
    found = {name: _version(name) for name in _PACKAGES} | {"tgdialect": tgdialect.__version__}
    found["llvm"] = ".".join(map(str, llvm.llvm_version_info))
    found["python"] = platform.python_version()
    found["system"] = platform.platform()
    found["folder"] = str(Path(tgdialect.__file__).parent)
    return found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpu() -> Section:
    cpu = CpuTarget.host()
    target = host_target(host_features(), threads=1)  # The number of threads is not asked for.
    found: dict[str, Any] = {"model": host_model(), "triple": cpu.triple, "llvm name": cpu.cpu}
    reported = dict(sorted(cache_sizes()))
    found |= {f"L{level} cache{_BYTES}": size for level, size in reported.items()}
    return found | {
        f"last cache assumed{_BYTES}": target.llc,
        "vector bits": target.vector_bits,
        "vector registers": target.vector_registers,
        "features": without_implied(target.features),
    }


def _threads() -> Section:
    count = _or_error(threads_and_source)
    if isinstance(count, str):
        return {"count": count}
    name = _or_error(lambda: parallel_runtime().name)
    is_wanted = _or_error(OPENMP.get)
    reason = f"{OPENMP.name}=0" if is_wanted is False else "none is loaded"
    openmp = f"not used ({reason}): a pool of threads" if name == "threads" else name
    return {"count": count[0], "from": count[1], "OpenMP": openmp}


def _object_cache() -> Section:
    cache = _or_error(object_cache)
    if cache is None:
        return {"folder": "not used: TG_CACHE_DIR is empty, or TG_CACHE_MIB is 0"}
    if isinstance(cache, str):
        return {"folder": f"not used: {cache}"}
    found: dict[str, Any] = {"folder": str(cache.folder), f"limit{_BYTES}": cache.limit}
    try:
        found["entries"], found[f"size{_BYTES}"] = cache.usage()
    except OSError as error:
        found["folder"] += f" (not used: {error.strerror})"
    return found


def _devices() -> Section:
    found: dict[str, Any] = {"default": _or_error(lambda: DEVICES.DEFAULT)}
    there_are = _or_error(lambda: [device for device in DEVICES if not device.is_host])
    if isinstance(there_are, str):
        return found | {"others": there_are}
    devices = cast("list[Device]", there_are)
    found |= {device.name: _or_error(lambda d=device: _device(d)) for device in devices}
    for kind in KINDS:
        if not any(device.name.startswith(f"{kind}:") for device in devices):
            found[kind] = f"none: {reason_for_none(kind)}"
    return found | {
        "MPI": _package("mpi4py", "mpi4py", "mpi", "mpiexec"),
        "NCCL": _package("nccl", "nccl4py", "nccl"),
        "C compiler": _or_error(compiler),
    }


def _device(device: Device) -> Section:
    limits = device.limits
    return {
        "name": device.driver.identity[0],
        "target": device.target,
        f"memory{_BYTES}": limits.memory,
    }


def _package(module: str, package: str, extra: str, program: str | None = None) -> str:
    """The version of an optional package, and where a program is that it needs."""
    if find_spec(module) is None:
        return f"none: pip install 'tgdialect[{extra}]' first"
    found = f"{package} {_version(package)}"
    if program is None:
        return found
    return f"{found}, {shutil.which(program) or f'but no {program} in PATH'}"


# -- the program -----------------------------------------------------------------------------------


def main(args: Sequence[str] | None = None) -> int:
    """Print the information, for people or as JSON; returns the exit code."""
    return exit_code(PROGRAM, lambda: _run(args))


def _run(args: Sequence[str] | None) -> int:
    usage, description = f"{PROGRAM} [--json]", "What is installed, and what this machine is."
    parser = ConsoleParser(PROGRAM, usage, description, "")
    parser.add_argument("--json", action="store_true", help="print JSON, for other programs")
    as_json = parser.parse_args(args).json
    sections = information()
    text = json.dumps(sections, indent=2) if as_json else shown(sections)
    show(f"{text}\n")
    return 0
