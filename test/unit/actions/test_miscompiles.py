"""Bisection names each miscompile that is seeded, and reduction leaves a few ops that show it.

Ops are counted as `tg-reduce` does: all but modules, functions, kernels, programs, LINEARs, and the
terminators of these.
"""

from __future__ import annotations

from functools import partial

import pytest
from seeded_miscompiles import SEEDS, Seed

from tgdialect import registry
from tgdialect.actions.bisect import BisectedPass, Bisection, Culprit
from tgdialect.actions.judges import Meaning
from tgdialect.actions.reduce.program import Reducible
from tgdialect.actions.smallest import Smallest, smallest
from tgdialect.diagnostics import Action, verify_module
from tgdialect.tools.examination import run_step

FIRST = 2
"""The suspects that are looked at: rules of a step may be applied to the same ops."""


@pytest.mark.parametrize("name", SEEDS)
def test_a_seed_is_named_and_reduced(name: str, monkeypatch: pytest.MonkeyPatch):
    seed = SEEDS[name]
    found, small = _bisected(seed, monkeypatch)
    assert said(found.action).startswith(seed.action)
    assert said(small.culprit.action).startswith(seed.action)
    suspects = [note.what for note in small.culprit.suspects[:FIRST]]
    assert not seed.rule or any(what.startswith(seed.rule) for what in suspects), suspects
    assert small.reduced.ops <= seed.most, str(small.reduced.module)
    verify_module(small.reduced.module)
    monkeypatch.undo()
    meaning = Meaning.of(small.reduced.module, "main", small.reduced.inputs or (), seed.run)
    right = small.reduced.module.clone()
    for step in small.culprit.passes:
        step.run(right)
    assert meaning(right) is None, str(small.reduced.module)


def test_most_are_reduced_to_ten_ops():
    assert sum(seed.most <= 10 for seed in SEEDS.values()) >= 20


def test_programs_are_small_and_large():
    sizes = [Reducible(seed.program()[0]).count() for seed in SEEDS.values()]
    assert len(sizes) >= 20
    assert min(sizes) >= 30
    assert max(sizes) >= 3000


def _bisected(seed: Seed, monkeypatch: pytest.MonkeyPatch) -> tuple[Culprit, Smallest]:
    module, inputs = seed.program()
    before, context = str(module), registry.make_context()
    steps = [BisectedPass(p.name, partial(run_step, p, context)) for p in seed.passes()]
    seed.plant(monkeypatch)
    meaning = Meaning.of(module, "main", inputs, seed.run)
    found = Bisection(module, steps, meaning, 60).culprit()
    assert str(module) == before
    return found, smallest(found, meaning)


def said(action: Action | None) -> str:
    """The pass, the pattern and the op of an action."""
    assert action is not None
    return f"{action.stage}: {action.pattern}: {action.op}"
