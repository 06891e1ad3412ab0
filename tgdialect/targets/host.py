"""The machine that this process runs on: its CPU, its cores and its caches.

No other file detects them. Importing this file imports neither LLVM nor xDSL, because a program
from the object cache starts without them.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from tgdialect.environment import NUM_THREADS, decimal
from tgdialect.targets import DEFAULT_TARGET, target_named
from tgdialect.targets.calibrated import calibrated
from tgdialect.targets.cpu import FEATURES
from tgdialect.targets.processor import processor_words
from tgdialect.targets.processors import rates
from tgdialect.targets.target import Target

_CPUINFO = Path("/proc/cpuinfo")
_CACHES = "/sys/devices/system/cpu/cpu0/cache"
_CACHE_FILES = ("type", "level", "size")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
"""Bytes by the suffix of a cache's size in Linux's `/sys`."""

_PAUSES = {"x86_64": "pause", "amd64": "pause", "aarch64": "isb", "arm64": "isb"}
"""The instruction that a spinning thread executes, by the name of the machine."""

_LOCAL_RANKS = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE")
"""The environment variables in which launchers of MPI programs say how many processes they have
started on this machine."""

_TILES = "amx"
"""The prefix of the features that need the tile registers."""
_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18
"""The numbers of the system call of Linux on x86-64, of what it is to do, and of the registers.
Source: Linux, Documentation/arch/x86/xstate.rst."""

LLC_PER_CORE = 16 << 20
"""The most of the last-level cache that a core is assumed to have for itself. A virtual machine of
two cores may report hundreds of MiB, which it shares with other machines: a greater value would
make kernels rely on cache that others use, a smaller one would waste cache."""


def host_target(
    features: Collection[str] = (), name: str = DEFAULT_TARGET, **given: int | None
) -> Target:
    """A target with the given features; a CPU has the caches and threads of this machine.

    `given` are fields of `Target` that replace the detected values; None stands for a field that is
    not given. Features are not detected.

    Raises ValueError for an unknown target or feature, for a field that is not a positive number,
    and SettingError if `threads` is not given and `TG_NUM_THREADS` is wrong.
    """
    fields = {field: value for field, value in given.items() if value is not None}
    found = replace(target_named(name, features), **fields)
    if name != DEFAULT_TARGET:
        return found
    # A processor that is named has its own caches and rates, and this one those that are measured.
    stated = rates(features)
    settled = {*fields, *stated}
    own: Mapping[str, int] = {}
    if features and {*features} == {*host_features()}:
        own = {**rates([llvm_host()[1]]), **calibrated(host_cpu())}
    elif not stated:
        own = calibrated("")  # Of a file that is named, whichever CPU it is of.
    detected = {name: size for name, size in own.items() if name not in settled}
    for field, detect in _DETECTED.items():
        if field not in settled and (size := detect()) is not None:
            detected[field] = size
    return replace(found, **detected)


def _cache_size(level: int) -> int | None:
    return dict(cache_sizes()).get(level)


def last_level_cache() -> int:
    """The bytes of the last-level cache that this process may assume to have: what the system
    reports, at most `LLC_PER_CORE` for each of its cores; that maximum if nothing is reported."""
    share = LLC_PER_CORE * core_count()
    return min(max((size for _, size in cache_sizes()), default=share), share)


def loads_anywhere() -> bool:
    """Whether instructions that load elements, and vectors of them, take any address, whatever the
    elements' size."""
    return platform.machine().lower() in _PAUSES


def pause_instruction() -> str:
    """The instruction by which a spinning thread leaves its core to others; none if that is not
    known."""
    return _PAUSES.get(platform.machine().lower(), "")


def thread_count() -> int:
    """The number of threads of a kernel: `TG_NUM_THREADS`, or else the cores of this process, at
    most what the CPU quotas of its control groups leave, of which each process of an MPI program
    has its share.

    Raises SettingError for a wrong number.
    """
    return threads_and_source()[0]


def threads_and_source() -> tuple[int, str]:
    """`thread_count`, and where the number comes from."""
    if count := NUM_THREADS.get():
        return count, NUM_THREADS.name
    machine, processes = os.cpu_count() or 1, _processes()
    # A launcher may have given each process of an MPI program its own cores.
    sharing = processes if _bound_cores() == machine else 1
    cores, source = _bound_cores() // sharing, f"the cores of this process, of {machine}"
    if (quota := _quota()) is not None and quota // processes < cores:
        cores, sharing = quota // processes, processes
        source = f"the CPU quota of its control group, of {machine} cores"
    if sharing > 1:
        source += f", for each of {processes} processes of an MPI program"
    return max(cores, 1), source


_DETECTED: dict[str, Callable[[], int | None]] = {
    "l1": lambda: _cache_size(1),
    "l2": lambda: _cache_size(2),
    "llc": last_level_cache,
    "threads": thread_count,
}
"""How each field of `Target` is detected; the result is None if the system does not report it."""


@cache
def host_cpu() -> str:
    """A text that identifies the model and features of the CPU, as LLVM sees them, and what of it
    this process may use. It is only compared."""
    return repr((processor_words() or llvm_host(), may_use_tiles()))


def host_model() -> str:
    """The name of the CPU for people, or of its architecture if the system does not tell."""
    try:
        fields = (line.partition(":") for line in _CPUINFO.read_text().splitlines())
        return next(value.strip() for name, _, value in fields if name.strip() == "model name")
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


@cache
def llvm_host() -> tuple[str, str, str]:
    """The triple, name and features of the CPU: what LLVM reports, and features that it misses."""
    import llvmlite.binding as llvm

    from tgdialect.targets.processor import system_features

    reported = llvm.get_host_cpu_features()
    features = reported | {name: True for name in system_features() if name not in reported}
    if not may_use_tiles():
        features |= {name: False for name in features if name.startswith(_TILES)}
    flags = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(features.items()))
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), flags


@cache
def host_features() -> tuple[str, ...]:
    """The features of the CPU on which schedules and instruction selection may depend."""
    on = (name[1:] for name in llvm_host()[2].split(",") if name.startswith("+"))
    return tuple(name for name in on if name in FEATURES)


@cache
def may_use_tiles() -> bool:
    """Whether this process may use the tile registers of x86 (AMX), for which it asks Linux here:
    their 8 KiB are saved at each switch of threads only for processes that have asked."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return False
    import ctypes

    call = ctypes.CDLL(None, use_errno=True).syscall
    return call(*map(ctypes.c_long, (_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA))) == 0


def core_count() -> int:
    """The number of cores that this process may use: those that it is bound to, at most as many as
    the CPU quotas of its control groups leave it."""
    return min(_bound_cores(), _quota() or _bound_cores())


@cache
def _quota() -> int | None:
    return quota_cores()


@cache
def _bound_cores() -> int:
    # Cached before anything pins the main thread, as an OpenMP runtime may do.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processes() -> int:
    """How many processes of an MPI program run on this machine."""
    return max(decimal(os.environ.get(name, "")) or 1 for name in _LOCAL_RANKS)


@cache
def cache_sizes() -> tuple[tuple[int, int], ...]:
    """(level, bytes) of each data or unified cache that the system reports."""
    found: list[tuple[int, int]] = []
    try:
        folders = os.listdir(_CACHES)
    except OSError:
        return ()
    for folder in folders:
        kind, level, size = (_read(f"{_CACHES}/{folder}/{name}") for name in _CACHE_FILES)
        with suppress(ValueError, KeyError, IndexError):  # For what is no cache, as well.
            if kind != "Instruction":
                found.append((int(level), int(size[:-1]) * _UNITS[size[-1]]))
    return tuple(found)


def _read(path: str) -> str:
    """A file of the system, empty if it cannot be read. `Path.read_text` takes four times as long,
    which is half of the time of all caches, 0.5 ms."""
    try:
        with open(path, "rb", buffering=0) as file:
            return (file.read() or b"").decode(errors="replace").strip()
    except OSError:
        return ""


# -- CPU quotas of Linux's control groups, by which containers get a part of a machine's cores -----
#
# Source: Linux, Documentation/admin-guide/cgroup-v2.rst and Documentation/scheduler/sched-bwc.rst.

MOUNT = "/sys/fs/cgroup"
GROUPS = "/proc/self/cgroup"


def quota_cores(mount: str = MOUNT, groups: str = GROUPS) -> int | None:
    """The cores that the quotas of this process's control groups leave it; None without a quota.

    A quota counts for all groups below it: the least on the path decides. A part of a core does not
    count, but there is always one: threads that wait for each other lose more by one that is
    stopped than by one that there is not.

    Args:
        mount: where the hierarchies are: version 2 itself, and version 1 in folders that are named
            by their controllers.
        groups: the file that says in which groups the process is.
    """
    quotas = [*_quotas(mount, groups)]
    return max(int(min(quotas)), 1) if quotas else None


def _quotas(mount: str, groups: str) -> Iterator[float]:
    for line in _read(groups).splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            for group in _on_path((mount, f"{mount}/unified"), path):
                yield from _cores_of(_read(f"{group}/cpu.max"))
        elif "cpu" in controllers.split(","):
            for group in _on_path((f"{mount}/{controllers}", f"{mount}/cpu"), path):
                files = (f"{group}/cpu.cfs_{name}_us" for name in ("quota", "period"))
                yield from _cores_of(" ".join(map(_read, files)))


def _on_path(folders: Iterable[str], path: str) -> Iterator[str]:
    """The groups from the roots of hierarchies to one of their paths. In a container a root may be
    the group of the container, whose path outside does not exist inside."""
    for folder in folders:
        yield folder
        for name in path.split("/"):
            if name not in ("", ".", ".."):
                folder = f"{folder}/{name}"
                yield folder


def _cores_of(text: str) -> Iterator[float]:
    """The cores of a text `quota period`, in microseconds; `max` or -1 is no quota."""
    match text.split():
        case [quota, period] if quota.isdecimal() and period.isdecimal() and int(period):
            yield int(quota) / int(period)
        case _:
            return
