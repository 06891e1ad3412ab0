"""`python -m bench.schedules`: the frozen record of the bench's schedules."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from bench import schedules
from bench.workloads import WORKLOADS

ROWS = "gemm 128x128x128", "softmax"


@pytest.mark.parametrize("target", ["avx2", "avx512", "amx", "nvidia:sm_80"])
def test_the_record_is_that_of_this_tree(target: str, capsys: pytest.CaptureFixture[str]):
    """After a change of the heuristic the rows that differ are timed, and the record is written
    anew."""
    chosen = [row for row in WORKLOADS if row.name.startswith(ROWS)]
    assert len(chosen) >= len(ROWS)
    assert schedules.main(["--rows", *ROWS, "--targets", target]) == 0
    assert "schedules as they were" in capsys.readouterr().out


def test_a_schedule_that_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The lines of other rows and targets stay, and are not compared."""
    record = tmp_path / "schedules.txt"
    monkeypatch.setattr(schedules, "RECORD", record)
    flags = "--rows", ROWS[0], "--targets", "avx2"
    other, wrong = "another row | avx2 | main_0 | none", f"{ROWS[0]} | avx2 | main_0 | none"
    record.write_text(f"{other}\n{wrong}\n", encoding="utf-8")
    assert schedules.main(flags) == 1
    out = capsys.readouterr().out
    assert f"-{wrong}" in out
    assert "another row" not in out
    assert schedules.main([*flags, "--write"]) == 0
    assert schedules.main(flags) == 0
    assert other in record.read_text(encoding="utf-8").splitlines()
