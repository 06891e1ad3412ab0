"""`Profile.plot`: what is drawn, where it is saved, and what it says without matplotlib."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.runtime.inspection import KernelTime
from tgdialect.runtime.peaks import Peaks, measured_peaks
from tgdialect.runtime.profile import Profile

KERNEL = KernelTime("main_0", 2, 1e-3, 0.75, False, 4_000_000, 1_000_000, ())
PROFILE = Profile(
    (
        replace(KERNEL, name="prepack", share=0, flops=0, is_once=True),
        KERNEL,
        replace(KERNEL, name="main_1", share=0.25),
    ),
    seconds=2e-3,
    runs=7,
    device="CPU",
)
PEAKS = Peaks(8e9, 2e9, 1e9)
"""4 FLOP per byte is where work becomes bound by memory."""


@pytest.fixture(autouse=True)
def needs_matplotlib() -> None:
    pytest.importorskip("matplotlib").use("Agg")


def texts(axes: object) -> list[str]:
    return [text.get_text() for text in axes.texts]  # pyright: ignore


def test_bars_and_a_roofline(tmp_path: Path):
    figure = PROFILE.plot(tmp_path / "profile.svg", peaks=PEAKS)
    assert "<svg" in (tmp_path / "profile.svg").read_text()
    assert figure.get_suptitle() == "CPU: 7 runs, median 2.00 ms"
    bars, roofline = figure.axes
    names = [label.get_text() for label in bars.get_yticklabels()]
    assert names == ["prepack (once)", "main_0", "main_1"]
    assert [bar.get_width() for bar in bars.patches] == [0, 75, 25]  # pyright: ignore
    assert texts(bars)[1:] == ["4 GFLOP/s, 1 GB/s"] * 2
    # The roof: bound by memory on the left, by arithmetic on the right. Copies have no FLOPs.
    (line,) = roofline.lines
    (low, ridge, high), heights = np.asarray(line.get_data())
    assert low < ridge == 4 < high
    np.testing.assert_allclose(heights, [2 * low, 8, 8])
    (points,) = roofline.collections
    np.testing.assert_allclose(points.get_offsets(), [[4, 4], [4, 4]])  # pyright: ignore
    assert texts(roofline) == ["8 GFLOP/s", "2 GB/s", "main_0", "main_1"]


def test_no_roofline_without_limits():
    from matplotlib import pyplot

    figure = replace(PROFILE, device="CL:0").plot()
    assert len(figure.axes) == 1
    assert pyplot.gcf() is figure  # `show()` shows it.
    pyplot.close(figure)


def test_many_kernels():
    kernels = [replace(KERNEL, name=f"main_{i}", seconds=1e-3 + i % 2, share=0) for i in range(99)]
    bars, roofline = Profile(tuple(kernels), 1.0, 3).plot(peaks=PEAKS).axes
    names = [label.get_text() for label in bars.get_yticklabels()]
    assert names == [*(f"main_{i}" for i in range(1, 59, 2)), "70 others"]
    assert len(texts(roofline)) == 2 + 8


def test_nothing_to_draw():
    assert len(Profile((), 1.0, 3).plot(peaks=PEAKS).axes) == 2


def test_another_kind_of_file(tmp_path: Path):
    with pytest.raises(ValueError, match="'abc' is not supported"):
        PROFILE.plot(tmp_path / "profile.abc", peaks=PEAKS)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'tgdialect\[plot\]'"):
        PROFILE.plot(peaks=PEAKS)


def test_the_limits_of_this_cpu(tmp_path: Path):
    x = np.ones((64, 64), np.float32)
    profile = tg.compile(lambda x: x @ x, x).profile(x, seconds=0.01)  # pyright: ignore
    assert profile.device == "CPU"
    assert len(profile.plot(tmp_path / "profile.png").axes) == 2
    assert all(limit > 0 for limit in measured_peaks(1))


def test_names_are_no_formulas(tmp_path: Path):
    """Matplotlib would parse what is between dollars, and refuse most of it."""
    hostile = replace(KERNEL, name="$\\frac{$ \x1b[2J\n</text>")
    profile = replace(PROFILE, kernels=(hostile,))
    profile.plot(tmp_path / "profile.svg", peaks=PEAKS)
    assert "&lt;/text&gt;" in (tmp_path / "profile.svg").read_text()
    table = str(profile)
    assert "\x1b" not in table
    assert len(table.splitlines()) == 3
