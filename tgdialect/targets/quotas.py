"""CPU quotas of Linux's control groups, by which containers get a part of a machine's cores.

Source: Linux, Documentation/admin-guide/cgroup-v2.rst and Documentation/scheduler/sched-bwc.rst.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
                yield from _quota(_read(f"{group}/cpu.max"))
        elif "cpu" in controllers.split(","):
            for group in _on_path((f"{mount}/{controllers}", f"{mount}/cpu"), path):
                files = (f"{group}/cpu.cfs_{name}_us" for name in ("quota", "period"))
                yield from _quota(" ".join(map(_read, files)))


def _on_path(folders: Iterable[str], path: str) -> Iterator[str]:
    """The groups from the roots of hierarchies to one of their paths. In a container a root may be
    the group of the container, whose path outside does not exist inside."""
    for folder in folders:
        yield folder
        for name in path.split("/"):
            if name not in ("", ".", ".."):
                folder = f"{folder}/{name}"
                yield folder


def _quota(text: str) -> Iterator[float]:
    """The cores of a text `quota period`, in microseconds; `max` or -1 is no quota."""
    match text.split():
        case [quota, period] if quota.isdecimal() and period.isdecimal() and int(period):
            yield int(quota) / int(period)
        case _:
            return


def _read(path: str) -> str:
    try:
        with open(path, "rb", buffering=0) as file:
            return (file.read() or b"").decode(errors="replace")
    except OSError:
        return ""
