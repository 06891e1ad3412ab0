"""Targets: what features bring, and what this machine's system says of its caches and cores."""

from pathlib import Path

import pytest

from tgdialect.ops.attributes import AxisType
from tgdialect.targets import TARGETS, host, target_named
from tgdialect.targets.host import LLC_PER_CORE, host_target, last_level_cache


@pytest.mark.parametrize(
    ("sizes", "cores", "expected"),
    [
        (((1, 48 << 10), (2, 2 << 20), (3, 260 << 20)), 2, 2 * LLC_PER_CORE),
        (((1, 32 << 10), (2, 1 << 20), (3, 32 << 20)), 8, 32 << 20),
        (((1, 32 << 10), (2, 1 << 20)), 1, 1 << 20),
        ((), 4, 4 * LLC_PER_CORE),
    ],
)
def test_last_level_cache(
    sizes: tuple[tuple[int, int], ...], cores: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest cache, but of one that many cores share no more than those of this process."""
    monkeypatch.setattr(host, "cache_sizes", lambda: sizes)
    monkeypatch.setattr(host, "core_count", lambda: cores)
    assert last_level_cache() == expected
    found, known, default = host_target(threads=1), dict(sizes), target_named("cpu")
    assert (found.l1, found.l2) == (known.get(1, default.l1), known.get(2, default.l2))
    assert found.llc == expected


def test_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that a system reports, which may report none, or allow nobody to list them."""

    def found(folder: str) -> tuple[tuple[int, int], ...]:
        monkeypatch.setattr(host, "_CACHES", folder)
        return host.cache_sizes.__wrapped__()

    for number, texts in enumerate(("Data 1 32K", "Instruction 1 64K", "Unified 2 1M", "Data 1 x")):
        (index := tmp_path / f"index{number}").mkdir()
        for name, text in zip(("type", "level", "size"), texts.split(), strict=True):
            (index / name).write_text(f"{text}\n")
    (tmp_path / "power").mkdir()
    (tmp_path / "uevent").touch()
    assert set(found(str(tmp_path))) == {(1, 32 << 10), (2, 1 << 20)}
    assert found(str(tmp_path / "none")) == found(str(tmp_path / "uevent")) == ()

    def refused(_: str) -> list[str]:
        raise PermissionError

    monkeypatch.setattr("os.listdir", refused)
    assert found(str(tmp_path)) == ()


def test_fields_that_are_given() -> None:
    """They are taken instead of those of this machine."""
    found = host_target(("+avx512f", "+avx"), threads=3, l2=1 << 20)
    assert (found.vector_bits, found.vector_registers) == (512, 32)
    assert (found.threads, found.l2) == (3, 1 << 20)
    assert found.masks_stores
    assert "mulacc" in found.native
    assert host_target(threads=1).lanes(4) == 1
    with pytest.raises(ValueError, match=rf"l2 is {10**30}, not a number below"):
        host_target(l2=10**30)
    with pytest.raises(ValueError, match="l2 is 0, not a positive number"):
        host_target(l2=0)


def test_text() -> None:
    """The object cache knows a target by its text: it says all fields, in one order."""
    assert str(host_target(threads=2)) != str(host_target(threads=3))
    assert "features = ['avx', 'avx2', 'sse'" in str(target_named("cpu", ("avx2",)))


@pytest.mark.parametrize("name", TARGETS)
def test_axis_types(name: str) -> None:
    assert target_named(name).axis_types <= set(AxisType)


def test_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(host, "_CPUINFO", tmp_path / "cpuinfo")
    assert host.host_model()  # The architecture, at least.
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Abacus 9: fast\nflags: x\n")
    assert host.host_model() == "Abacus 9: fast"
