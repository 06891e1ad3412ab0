"""The machine that schedules are made for: what the system says of it, and what of that is ours."""

import pytest

from tgdialect.analysis import machine
from tgdialect.analysis.machine import CACHE_PER_CORE, last_level_cache, machine_of


@pytest.mark.parametrize(
    ("sizes", "cores", "expected"),
    [
        (((1, 48 << 10), (2, 2 << 20), (3, 260 << 20)), 2, 2 * CACHE_PER_CORE),
        (((1, 32 << 10), (2, 1 << 20), (3, 32 << 20)), 8, 32 << 20),
        (((1, 32 << 10), (2, 1 << 20)), 1, 1 << 20),
        ((), 4, 4 * CACHE_PER_CORE),
    ],
)
def test_last_level_cache(
    sizes: tuple[tuple[int, int], ...], cores: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest cache, but of one that many cores share no more than those of this process."""
    monkeypatch.setattr(machine, "_cache_sizes", lambda: sizes)
    monkeypatch.setattr(machine, "_cores", lambda: cores)
    assert last_level_cache() == expected


def test_features_bring_registers() -> None:
    assert machine_of(("+avx512f", "+avx"), 3, 1 << 20) == machine.Machine(512, 32, 1 << 20, 3)
    assert machine_of((), 1).lanes(4) == 1
