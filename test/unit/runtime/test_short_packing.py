"""Kernels that pack constants once have no schedule, if they pack little."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect.lowering.optimize import stage
from tgdialect.ops import tg as ops
from tgdialect.runtime.build import Build
from tgdialect.targets import Target
from tgdialect.targets.attribute import target_of
from tgdialect.targets.host import host_features

ROWS, WIDTH = 96, 128


def layers(count: int) -> ModuleOp:
    """A program of equal layers, whose constant weights differ: one kernel packs each of them."""
    rng = np.random.default_rng(0)
    weights = [tg.Tensor(rng.random((WIDTH, WIDTH), np.float32)) for _ in range(count)]

    def forward(x: tg.Tensor) -> tg.Tensor:
        for weight in weights:
            x = (x @ weight.T).relu().contiguous()
        return x

    x = tg.Tensor(rng.random((ROWS, WIDTH), np.float32))
    return tg.function(forward, freeze=True).lower(x).source


def packing(module: ModuleOp, machine: Target | None = None) -> list[int]:
    """The numbers of OptOps of the kernels that pack weights."""
    optimized = Build(module, machine=machine).module("optimize")
    kernels = [op for op in optimized.ops if isinstance(op, ops.KernelOp)]
    return [len(k.sink.opts or ()) for k in kernels if "prepack" in k.sym_name.data]


def test_constants_that_are_kept_are_packed_without_a_schedule() -> None:
    (opts,) = packing(layers(1))
    assert not opts


def test_a_library_packs_in_each_call() -> None:
    """A program for a machine that is named goes into a file, whose library derives values of
    constants each time."""
    (opts,) = packing(layers(1), target_of(None, features=host_features()))
    assert opts


def test_what_all_calls_pack_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "SHORT_PACKING", 2 * WIDTH * WIDTH * 4)
    (opts,) = packing(layers(2))
    assert not opts
    (opts,) = packing(layers(3))
    assert opts
