"""The work that programs take to compile is what `work_table.md` says.

    python -m pytest test/unit/programs/test_work.py --update-work

writes the table anew. Whoever reviews a change reads what that changes: a number may rise for a
reason. The table is exact for one version of xDSL, so that what a program takes may differ by a
part of `SLACK` before its test fails.
"""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest
from counting import calls
from work import COUNTS, STAGES, TARGET, Work, module_of, work_of
from work_programs import GRID_PROGRAMS, PROGRAMS, loops
from xdsl.dialects.builtin import ModuleOp

from tgdialect import Tensor
from tgdialect.lowering.pipeline import run_stages
from tgdialect.targets import target_named
from tgdialect.targets.attribute import state_target

TABLE = Path(__file__).parent / "work_table.md"
HEADER = f"| program | {' | '.join(COUNTS)} |\n|---|{'---:|' * len(COUNTS)}\n"
SLACK = 0.02
NAMES = (*PROGRAMS, *GRID_PROGRAMS)


def measured(name: str) -> Work:
    target, program = GRID_PROGRAMS.get(name) or (None, PROGRAMS[name])
    results = program()
    if not isinstance(results, ModuleOp):
        results = module_of([results] if isinstance(results, Tensor) else results)
    return work_of(results, TARGET if target is None else target_named(target))


def written() -> dict[str, Work]:
    rows = [line.strip("| \n").split(" | ") for line in TABLE.read_text().splitlines()[2:]]
    return {name: Work(*map(int, counts)) for name, *counts in rows}


def test_the_table_has_every_program(request: pytest.FixtureRequest):
    if request.config.getoption("--update-work"):
        rows = [f"| {n} | {' | '.join(map(str, astuple(measured(n))))} |\n" for n in NAMES]
        TABLE.write_text(HEADER + "".join(rows))
    assert list(written()) == list(NAMES)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", NAMES)
def test_work(name: str, request: pytest.FixtureRequest):
    if request.config.getoption("--update-work"):
        pytest.skip("the table was written anew")
    expected, found = written()[name], measured(name)
    differences = [
        f"{count}: {old} -> {new}"
        for count, old, new in zip(COUNTS, astuple(expected), astuple(found), strict=True)
        if abs(new - old) > SLACK * old
    ]
    assert not differences, f"{', '.join(differences)}; if that is meant: pytest --update-work"


def test_schedules_of_many_loops():
    """Calls of Python functions, which the table does not count: a schedule looks at all accesses
    for each loop, and no more than that."""

    def work(count: int) -> int:
        module = loops(count)
        state_target(module, TARGET)
        return calls(lambda: run_stages(module, STAGES))

    work(2)
    assert work(60) < 3.5 * work(30)
