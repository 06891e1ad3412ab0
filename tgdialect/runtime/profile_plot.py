"""A profile as a plot, by matplotlib: the time of each kernel, and a roofline.

Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for Multicore
Architectures" (2009): work per second against work per byte of memory, below the line of what a
machine can do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tgdialect.diagnostics import printable
from tgdialect.runtime.inspection import KernelTime
from tgdialect.runtime.peaks import Peaks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS = 30
"""The most bars of a plot, the last of which is of all other kernels. More: names overlap."""
_MOST_NAMES = 8
"""The kernels whose names are in the roofline, those with the greatest shares: more would
overlap."""


def require_matplotlib() -> None:
    """Raise ImportError, with what to install, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise ImportError(
            "a plot needs matplotlib: pip install 'tgdialect[plot]'", name="matplotlib"
        ) from error


def profile_figure(
    kernels: Sequence[KernelTime],
    title: str,
    peaks: Peaks | None,
    file: str | os.PathLike[str] | None,
) -> Figure:
    """The plot of a profile, with a roofline if there are peaks; saved if there is a file."""
    from matplotlib.figure import Figure

    bars = _largest(kernels)
    count = 1 if peaks is None else 2
    size = (7 * count, max(0.3 * len(bars) + 1.4, 3.5 if peaks else 0))
    figure: Any
    if file is None:
        pyplot: Any = import_module("matplotlib.pyplot")
        figure = pyplot.figure(figsize=size, layout="constrained")
    else:
        figure = Figure(figsize=size, layout="constrained")  # No window, whatever the backend.
    axes: Any = figure.subplots(1, count, squeeze=False)[0]
    figure.suptitle(title)
    _draw_bars(axes[0], bars)
    if peaks is not None:
        _draw_roofline(axes[1], kernels, peaks)
    if file is not None:
        figure.savefig(os.fspath(file))
    return figure


def _largest(kernels: Sequence[KernelTime]) -> Sequence[KernelTime]:
    """The kernels in their order; if they are too many, those that take longest, and the others as
    one."""
    if len(kernels) <= _MOST_BARS:
        return kernels
    by_time = sorted(kernels, key=lambda k: -k.seconds)
    shown, others = set(map(id, by_time[: _MOST_BARS - 1])), by_time[_MOST_BARS - 1 :]
    figures = ("calls", "seconds", "share", "flops", "bytes")
    sums: Any = {name: sum(getattr(k, name) for k in others) for name in figures}
    rest = KernelTime(name=f"{len(others)} others", is_once=False, opts=(), **sums)
    return [*(k for k in kernels if id(k) in shown), rest]


def _draw_bars(axes: Any, kernels: Sequence[KernelTime]) -> None:
    shares = [100 * k.share for k in kernels]
    names = [printable(f"{k.name} (once)" if k.is_once else k.name) for k in kernels]
    bars = axes.barh(range(len(kernels)), shares)
    labels = [f"{k.gflops:.3g} GFLOP/s, {k.gbytes:.3g} GB/s" for k in kernels]
    axes.bar_label(bars, labels, padding=3, fontsize="small")
    axes.set_yticks(range(len(kernels)), names, parse_math=False)
    axes.invert_yaxis()  # The first call is at the top.
    axes.set_xlim(0, 1.5 * max(shares, default=1) or 1)  # Room for the labels.
    axes.set_xlabel("share of the time in kernels, %")


def _draw_roofline(axes: Any, kernels: Sequence[KernelTime], peaks: Peaks) -> None:
    points = [k for k in kernels if k.flops and k.bytes and k.seconds]
    bandwidth = max(peaks.read, peaks.copy)
    ridge = peaks.flops / bandwidth
    intensities = [k.flops / k.bytes for k in points]
    low, high = min(intensities, default=ridge) / 4, max(intensities, default=ridge) * 4
    low, high = min(low, ridge / 4), max(high, ridge * 4)
    roof = [(x, min(peaks.flops, bandwidth * x) / 1e9) for x in (low, ridge, high)]
    axes.plot(*zip(*roof, strict=True), color="black", linewidth=1)
    note: dict[str, Any] = {"fontsize": "small", "textcoords": "offset points"}
    axes.annotate(f"{peaks.flops / 1e9:.3g} GFLOP/s", roof[2], (0, 4), ha="right", **note)
    axes.annotate(f"{bandwidth / 1e9:.3g} GB/s", roof[0], (16, 0), **note)
    sizes = [20 + 400 * k.share for k in points]
    axes.scatter(intensities, [k.gflops for k in points], sizes, alpha=0.6)
    for kernel in sorted(points, key=lambda k: -k.share)[:_MOST_NAMES]:
        at = kernel.flops / kernel.bytes, kernel.gflops
        axes.annotate(printable(kernel.name), at, (6, -10), parse_math=False, **note)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.15)  # Room for names.
    axes.set_xlabel("FLOP per byte of memory")
    axes.set_ylabel("GFLOP/s")
