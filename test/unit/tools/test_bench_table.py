"""`python -m bench --markdown`: the table, of figures that are given."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from bench.table import markdown


def row(name: str, ratio: float | None, **tools: float | str):
    found = {
        tool: {"seconds": each} if isinstance(each, float) else {"error": each}
        for tool, each in tools.items()
    }
    ours = found["tgdialect"].get("seconds")
    return {"name": name, "ours": ours, "ratio": ratio, "tools": found}


def test_wins_and_losses():
    rows = [
        row("gemm", 2.0, tgdialect=1e-3, numpy=2e-3, torch=4e-3),
        row("copy", 1.01, tgdialect=1e-3, numpy=1.01e-3, torch="no such method"),
        row("sort", 0.5, tgdialect=0.25, numpy=0.125, torch=0.5),
        row("fft", None, tgdialect="not supported", numpy=1.0, torch=1.0),
    ]
    assert markdown(rows, ["tgdialect", "numpy", "torch"]) == (
        "| program | tgdialect | numpy | torch | best peer / ours |  |\n"
        "| --- | ---: | ---: | ---: | ---: | --- |\n"
        "| gemm | 1 ms | 2 ms | 4 ms | 2.00 | win |\n"
        "| copy | 1 ms | 1.01 ms | - | 1.01 | tie |\n"
        "| sort | 250 ms | 125 ms | 500 ms | 0.50 | **loss** |\n"
        "| fft | not supported | 1e+03 ms | 1e+03 ms | - | **loss** |\n"
        "\n"
        "Of 4 rows 1 won, 1 tied (within 3%), 2 lost; geometric mean 1.00, least 0.50 (sort).\n"
    )


def test_without_peers():
    table = markdown([row("gemm", None, tgdialect=1e-3)], ["tgdialect"])
    assert "| gemm | 1 ms | - |  |" in table
    assert table.endswith("Of 1 rows 0 won, 0 tied (within 3%), 0 lost.\n")
