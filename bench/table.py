"""The figures of `python -m bench` as a Markdown table with its wins and losses, for the README."""

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
    and the ratio to the best of them. A tool without a result has a dash, ours says why."""
    peers = [name for name in names if name != "tgdialect"]
    head = ["program", "tgdialect", *peers, "best peer / ours", ""]
    lines = [head, ["---", *["---:"] * (len(peers) + 2), "---"]]
    for row in rows:
        ours = row["tools"]["tgdialect"]
        time = ours["error"] if row["ours"] is None else _milliseconds(ours)
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
        times = [_milliseconds(row["tools"].get(name, {})) for name in peers]
        lines.append([row["name"], time, *times, ratio, verdict(row)])
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"{text}\n\n{conclusion(rows)}\n"


def verdict(row: dict[str, Any]) -> str:
    """win, tie or **loss** against the best peer; a row without our result is a loss."""
    if row["ours"] is None:
        return "**loss**"
    if row["ratio"] is None:
        return ""
    return "win" if row["ratio"] > 1 + NOISE else "**loss**" if row["ratio"] < 1 - NOISE else "tie"


def conclusion(rows: Sequence[dict[str, Any]]) -> str:
    """How many rows are won and lost, the mean ratio, and the worst row."""
    verdicts = [verdict(row) for row in rows]
    counts = f"{verdicts.count('win')} won, {verdicts.count('tie')} tied (within {NOISE:.0%})"
    text = f"Of {len(rows)} rows {counts}, {verdicts.count('**loss**')} lost"
    if not (compared := [row for row in rows if row["ratio"] is not None]):
        return f"{text}."
    worst = min(compared, key=lambda row: row["ratio"])
    mean = geometric_mean(row["ratio"] for row in compared)
    return f"{text}; geometric mean {mean:.2f}, least {worst['ratio']:.2f} ({worst['name']})."


def _milliseconds(tool: dict[str, Any]) -> str:
    return f"{1e3 * tool['seconds']:.3g} ms" if "seconds" in tool and "error" not in tool else "-"
