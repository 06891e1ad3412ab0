"""The rows of `python -m bench --random`, of training and of recurrent layers: ours, PyTorch's and
JAX's results are those of NumPy in float64."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from bench import peers
from bench import random_programs as programs
from bench.__main__ import TOLERANCE
from bench.random_programs import FAMILIES, random_program
from bench.recurrent import Sizes, gru, lstm
from bench.training_steps import RATE, convnet_step, lstm_step, mlp_step
from bench.workload import Workload
from bench.workloads import WORKLOADS

ROOT = Path(__file__).parents[3]
SEED = 561

SMALL = (
    gru("gru", Sizes(5, 3, 4, 6)),
    lstm("lstm", Sizes(5, 3, 4, 6)),
    lstm("unrolled lstm", Sizes(5, 3, 4, 6), is_unrolled=True),
    lstm_step("lstm step", Sizes(5, 3, 4, 6), 2),
    mlp_step("mlp step", 12, (7, 9, 8, 4)),
    convnet_step("convnet step", (3, 2, 8, 12), (4, 5), 3),
)

STATED = (
    "conv 3x3/2 3->32 224x224",
    "bf16 gemm 512x512x512",
    "linear 4x1024x4096",
    "dlrm",
    "block",
)
"""Rows that are in no other table of tests."""


@pytest.fixture(autouse=True)
def settings():
    """Those of PyTorch and JAX, which the bench has processes for."""
    yield
    if torch := sys.modules.get("torch"):
        torch.set_grad_enabled(True)
    if jax := sys.modules.get("jax"):
        jax.config.update("jax_enable_x64", False)


def check(w: Workload, tool: str) -> None:
    call = peers.TOOLS[tool](w, w.inputs())
    result = call()
    results = list(result) if w.has_many else [result]
    for found, wanted in zip(results, w.references(), strict=True):
        found = np.asarray(found, np.float64).reshape(wanted.shape)
        assert np.abs(found - wanted).max() <= TOLERANCE[w.dtype] * np.abs(wanted).max()


def available(tool: str, mark: pytest.MarkDecorator = pytest.mark.parity):
    missing = find_spec(tool) is None
    return pytest.param(tool, marks=[mark, pytest.mark.skipif(missing, reason=f"no {tool}")])


TOOLS = ["tgdialect", available("torch"), available("jax")]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("row", SMALL, ids=lambda row: row.name)
def test_small_rows(row: Workload, tool: str):
    check(row, tool)


@pytest.mark.parametrize("row", [row for row in SMALL if row.has_many], ids=lambda row: row.name)
def test_a_step_changes_the_weights(row: Workload):
    """By enough that a wrong gradient is beyond the tolerance."""
    references = row.references()[1:]
    for before, after in zip(row.inputs()[-len(references) :], references, strict=True):
        change = np.abs(after - before).max()
        assert change > 0.01 * np.abs(after).max()
        assert change < 10 * RATE


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", STATED)
def test_stated_rows(name: str):
    row = next(w for w in WORKLOADS if name in w.name)
    check(row, "tgdialect")


# -- random programs -----------------------------------------------------------------------------


def test_a_seed_makes_the_same_rows():
    rows = [random_program(SEED, i) for i in range(3 * len(FAMILIES))]
    for row in rows:
        again = programs.named(row.name)
        assert (again.name, again.shapes, again.flops) == (row.name, row.shapes, row.flops)
        assert programs.is_random(row.name)
    others = [random_program(SEED + 1, i) for i in range(len(rows))]
    same = {row.name.split(" ", 2)[2] for row in rows} & {
        row.name.split(" ", 2)[2] for row in others
    }
    assert len(same) < 5  # Two of few sizes may be alike.
    for a, b in zip(rows[0].inputs(), programs.named(rows[0].name).inputs(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_go_through_all_families(monkeypatch: pytest.MonkeyPatch):
    drawn: list[Callable[..., Workload]] = []
    watched = [
        lambda draw, family=family: drawn.append(family) or family(draw) for family in FAMILIES
    ]
    monkeypatch.setattr("bench.random_programs.FAMILIES", watched)
    rows = [random_program(SEED, i) for i in range(len(FAMILIES))]
    assert {*drawn} == {*FAMILIES}
    for row in rows:
        assert programs.SECONDS[0] <= programs.expected_seconds(row) <= programs.SECONDS[1]
        assert row.bytes <= programs.MOST_BYTES


@pytest.mark.sampled(6)
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("index", range(2 * len(FAMILIES)))
def test_random_rows(index: int, tool: str):
    check(random_program(SEED, index), tool)


def test_a_run(tmp_path: Path):
    options = "--random", "2", "--seed", "5", "--tools", "tgdialect", "--turns", "1"
    command = [sys.executable, "-m", "bench", *options, "--threads", "1"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "python -m bench --random 2 --seed 5\n" in run.stdout
    assert all(random_program(5, i).name in run.stdout for i in range(2))


def test_one_table_at_a_time():
    command = [sys.executable, "-m", "bench", "--models", "--random", "3"]
    failed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert failed.returncode == 2
    assert "--models and --random are two tables" in failed.stderr
