"""The figures of `python -m bench` as a Markdown table with wins and losses, for docs/bench.md."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

NOISE = 0.03
"""Times that differ by less are a tie: what two runs of one program differ by."""


def geometric_mean(values: Iterable[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))


def markdown(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """A line for each row that `bench.summary` makes: milliseconds of ours and of each of `names`,
    the ratio to the best of them, and to each that has a ratio of its own. A tool without a result
    has a dash, ours says why."""
    peers = [name for name in names if name != "tgdialect"]
    apart = [name for name in names if any(name in row.get("apart", ()) for row in rows)]
    head = ["program", "tgdialect", *peers, "best peer / ours", ""]
    head += [cell for name in apart for cell in (f"{name} / ours", "")]
    lines = [head, ["---", *["---:"] * (len(peers) + 1), *["---:", "---"] * (1 + len(apart))]]
    for row in rows:
        ours = row["tools"]["tgdialect"]
        time = ours["error"] if row["ours"] is None else _milliseconds(ours)
        times = [_milliseconds(row["tools"].get(name, {})) for name in peers]
        lines.append([row["name"], time, *times])
        for ratio in (row["ratio"], *(row["apart"].get(name) for name in apart)):
            lines[-1] += "-" if ratio is None else f"{ratio:.2f}", verdict(row["ours"], ratio)
    conclusions = [conclusion([(row["name"], row["ours"], row["ratio"]) for row in rows])]
    for name in apart:
        ratios = [(row["name"], row["ours"], row["apart"].get(name)) for row in rows]
        conclusions.append(f"Against {name}: {conclusion(ratios)}")
    return f"{_text(lines)}\n" + "".join(f"\n{text}\n" for text in conclusions)


def first_calls(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """Seconds of the first call of each tool."""
    lines = [["first call", *names], ["---", *["---:"] * len(names)]]
    for row in rows:
        found = [row["tools"].get(name, {}) for name in names]
        times = [f"{t['first']:.3g} s" if "error" not in t and t else "-" for t in found]
        lines.append([row["name"], *times])
    return f"{_text(lines)}\n"


def _text(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def verdict(ours: float | None, ratio: float | None) -> str:
    """win, tie or **loss** against a peer; a row without our result is a loss."""
    if ours is None:
        return "**loss**"
    if ratio is None:
        return ""
    return "win" if ratio > 1 + NOISE else "**loss**" if ratio < 1 - NOISE else "tie"


def conclusion(rows: Sequence[tuple[str, float | None, float | None]]) -> str:
    """How many rows are won and lost, the mean ratio, and the worst row, of names, our times and
    ratios."""
    verdicts = [verdict(ours, ratio) for _, ours, ratio in rows]
    counts = f"{verdicts.count('win')} won, {verdicts.count('tie')} tied (within {NOISE:.0%})"
    text = f"Of {len(rows)} rows {counts}, {verdicts.count('**loss**')} lost"
    if not (compared := [(ratio, name) for name, _, ratio in rows if ratio is not None]):
        return f"{text}."
    least, worst = min(compared)
    mean = geometric_mean(ratio for ratio, _ in compared)
    return f"{text}; geometric mean {mean:.2f}, least {least:.2f} ({worst})."


def _milliseconds(tool: dict[str, Any]) -> str:
    return f"{1e3 * tool['seconds']:.3g} ms" if "seconds" in tool and "error" not in tool else "-"
