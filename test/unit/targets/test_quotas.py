"""CPU quotas of control groups: of both versions, nested, in containers, and absent."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tgdialect.targets import host
from tgdialect.targets.host import core_count, quota_cores, threads_and_source

TREES: dict[str, tuple[str, dict[str, str], int | None]] = {
    "version 2, of a container": ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
    "a part of a core more": ("0::/\n", {"cpu.max": "350000 100000\n"}, 3),
    "less than a core": ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),
    "no quota": ("0::/a\n", {"cpu.max": "max 100000\n", "a/cpu.max": "max 100000\n"}, None),
    "the least along the path": (
        "0::/a/b/c\n",
        {
            "a/cpu.max": "800000 100000",
            "a/b/cpu.max": "300000 100000",
            "a/b/c/cpu.max": "max 100000",
            "a/other/cpu.max": "100000 100000",
        },
        3,
    ),
    "a path that only the host has": ("0::/docker/1f\n", {"cpu.max": "400000 100000"}, 4),
    "a path from outside": ("0::/../../x\n", {"cpu.max": "400000 100000"}, 4),
    "version 1": (
        "4:memory:/a\n3:cpu,cpuacct:/a\n",
        {
            "cpu,cpuacct/a/cpu.cfs_quota_us": "600000\n",
            "cpu,cpuacct/a/cpu.cfs_period_us": "100000\n",
            "cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
        6,
    ),
    "version 1, of a container": (
        "3:cpuacct,cpu:/docker/1f\n0::/\n",
        {"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "25000"},
        2,
    ),
    "both versions": (
        "1:name=systemd:/\n2:cpu:/a\n0::/a\n",
        {
            "cpu/a/cpu.cfs_quota_us": "300000",
            "cpu/a/cpu.cfs_period_us": "100000",
            "unified/a/cpu.max": "200000 100000",
        },
        2,
    ),
    "no files": ("0::/a\n", {}, None),
    "no lines": ("", {"cpu.max": "100000 100000"}, None),
    "nonsense": ("0::/\n\nx\n:::\n", {"cpu.max": "a lot\n"}, None),
    "no period": ("0::/\n", {"cpu.max": "100000 0\n"}, None),
}


@pytest.mark.parametrize(("groups", "files", "cores"), TREES.values(), ids=TREES)
def test_quotas(groups: str, files: dict[str, str], cores: int | None, tmp_path: Path) -> None:
    (tmp_path / "groups").write_text(groups)
    for name, text in files.items():
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert quota_cores(str(tmp_path / "mount"), str(tmp_path / "groups")) == cores


def test_no_control_groups(tmp_path: Path) -> None:
    assert quota_cores(str(tmp_path / "a"), str(tmp_path / "b")) is None


@pytest.mark.parametrize(
    ("bound", "quota", "ranks", "threads", "source"),
    [
        (64, 2, 1, 2, "the CPU quota of its control group, of 64 cores"),
        (64, None, 1, 64, "the cores of this process, of 64"),
        (64, 100, 1, 64, "the cores of this process, of 64"),
        (4, 8, 1, 4, "the cores of this process, of 64"),
        (4, 2, 1, 2, "the CPU quota of its control group, of 64 cores"),
        (64, 8, 4, 2, "the CPU quota .*, for each of 4 processes of an MPI program"),
        (64, None, 4, 16, "the cores .*, for each of 4 processes of an MPI program"),
        (16, None, 4, 16, "the cores of this process, of 64"),  # The launcher has bound each.
        (16, 4, 4, 1, "the CPU quota .*, for each of 4 processes of an MPI program"),
        (64, 2, 4, 1, "the CPU quota .*, for each of 4 processes of an MPI program"),
    ],
)
def test_threads(
    bound: int,
    quota: int | None,
    ranks: int,
    threads: int,
    source: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A container with 2 of 64 cores has 2 threads."""
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(host, "_bound_cores", lambda: bound)
    monkeypatch.setattr(host, "_quota", lambda: quota)
    monkeypatch.delenv("TG_NUM_THREADS", raising=False)
    monkeypatch.setenv("MPI_LOCALNRANKS", str(ranks))
    count, said = threads_and_source()
    assert count == threads
    assert re.fullmatch(source, said), said
    assert core_count() == min(bound, quota or bound)
