"""At which level LLVM generates the code of each kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime import build, warm_up


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> Sequence[int]:
    """The levels of the modules that LLVM is given."""
    found: list[int] = []
    object_code = CpuTarget.object_code

    def recorded(self: CpuTarget, ir: str, *, opt: int = 2, **options: Any) -> bytes:
        found.append(opt)
        return object_code(self, ir, opt=opt, **options)

    monkeypatch.setattr(warm_up, "warm_up_llvm", lambda: None)
    monkeypatch.setattr(CpuTarget, "object_code", recorded)
    monkeypatch.setenv("TG_CACHE_DIR", "")
    return found


def check_doubles(*types: str) -> None:
    """Compile a function that doubles each argument, and call it."""
    arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
    sums = "".join(f"  %r{i} = tg.add %{i}, %{i} : {type}\n" for i, type in enumerate(types))
    results = ", ".join(f"%r{i}" for i in range(len(types)))
    joined = ", ".join(types)
    text = f"func.func @main({arguments}) -> ({joined}) {{\n{sums}  return {results} : {joined}\n}}"
    exe = tg.compile(text)
    rng = np.random.default_rng(0)
    inputs = [rng.random(p.shape, np.float32) for p in exe.inputs]
    found = exe(*inputs)
    for result, given in zip(found if len(types) > 1 else [found], inputs, strict=True):
        np.testing.assert_array_equal(result, 2 * given)


def test_a_few_ops_are_not_optimized(levels: Sequence[int]) -> None:
    check_doubles("tensor<4xf32>")
    assert levels == [0]


def test_loops_are_optimized(levels: Sequence[int]) -> None:
    check_doubles("tensor<4096xf32>")
    assert levels == [2]


def test_many_ops_are_optimized(levels: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "SHORT", 3)
    check_doubles("tensor<4xf32>")
    assert levels == [2]


def test_each_kernel_has_its_level(levels: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TG_COMPILE_PROCESSES", "1")
    check_doubles("tensor<4xf32>", "tensor<4096xf32>")
    # The last one is that of the functions.
    assert sorted(levels[:-1]) == [0, 2]
    assert levels[-1] == 0
