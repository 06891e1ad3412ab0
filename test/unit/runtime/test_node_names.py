"""Kernels, profiles and errors of a program that is imported name the nodes of its source, also if
the object cache has an equal program of other names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect import Tensor
from tgdialect.diagnostics import CompilationError
from tgdialect.frontend.base import named
from tgdialect.frontend.locations import located
from tgdialect.ops.printing import printed
from tgdialect.runtime.cache import FOLDER
from tgdialect.runtime.compiler import load_module

X = np.ones((8, 8), np.float32)


def program_of(prefix: str) -> Any:
    """Three nodes: two fused ones, and a sum that is apart."""

    def model(x: Tensor) -> Tensor:
        named(x, "input")
        with located(f"{prefix}/Sin"):
            y = named(x.sin(), f"{prefix}/Sin_output")
        with located(f"{prefix}/Add"):
            y = y + 1
        with located(f"{prefix}/MatMul"):
            return y @ y

    return tg.compile(model, tg.spec((8, 8)))


def entries(folder: Path) -> int:
    """The programs in the object cache: other entries have a prefix."""
    return len([each for each in (folder / FOLDER).glob("*.tgo") if "-" not in each.name])


def test_kernels_and_profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    programs = {prefix: program_of(prefix) for prefix in ("/a", "/b")}
    assert entries(tmp_path) == 1
    for prefix, program in programs.items():
        first, last = program.kernels
        assert first.nodes == f'"{prefix}/Add", "{prefix}/Sin"'
        assert last.nodes == f'"{prefix}/MatMul"'
        profile = program.profile(X, seconds=0.01)
        assert [each.nodes for each in profile] == [first.nodes, last.nodes]
        assert f'"{prefix}/MatMul"' in str(profile)


def test_no_names_no_column():
    program: Any = tg.compile(Tensor.sin, tg.spec((8, 8)))
    assert "nodes" not in str(program.profile(X, seconds=0.01))


def test_a_kernel_of_several_calls_names_all():
    def model(x: Tensor) -> Tensor:
        for layer in range(3):
            with located(f"/layer.{layer}/MatMul"):
                x = x @ x
        return x

    program: Any = tg.compile(model, tg.spec((8, 8)))
    nodes = ", ".join(kernel.nodes for kernel in program.kernels)
    assert all(f'"/layer.{layer}/MatMul"' in nodes for layer in range(3))


def test_a_kernel_of_many_nodes_is_bounded():
    def model(x: Tensor) -> Tensor:
        for i in range(30):
            with located(f"/{i}/Add"):
                x = x + i
        return x

    program: Any = tg.compile(model, tg.spec((8, 8)))
    (kernel,) = program.kernels
    assert kernel.nodes == '"/29/Add", "/0/Add", "/1/Add", "/2/Add" and 12 more'


SHRINK = """
func.func @main(%x: tensor<8xf32>, %o: tensor<index>, %n: tensor<index>) -> tensor<1xf32> {
  %0 = tg.shrink %x at [%o] to [%n] : tensor<8xf32> -> tensor<?xf32> loc("NAME/Slice")
  %1 = tg.reduce add %0 [0] : tensor<?xf32> -> tensor<1xf32> loc("NAME/Sum")
  return %1 : tensor<1xf32>
}
"""


@pytest.mark.parametrize("is_text", [False, True])
def test_windows(is_text: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    for name in ("/a", "/b"):
        text = SHRINK.replace("NAME", name)
        program = tg.compile(text if is_text else load_module(text))
        with pytest.raises(CompilationError, match=f'"{name}/Slice": error: axis 0: offset 5'):
            program(X[0], 5, 4)
    assert entries(tmp_path) == (2 if is_text else 1)


def test_windows_at_one_place_and_at_two():
    # Equal but for the places: a window of the first is at that of both, of the second at one.
    def module(first: str, second: str) -> ModuleOp:
        return load_module(f"""
        func.func @main(%x: tensor<8xf32>, %o: tensor<index>, %p: tensor<index>)
            -> (tensor<2xf32>, tensor<2xf32>) {{
          %0 = tg.shrink %x at [%o] to [2] : tensor<8xf32> -> tensor<2xf32> loc("{first}")
          %1 = tg.shrink %x at [%p] to [2] : tensor<8xf32> -> tensor<2xf32> loc("{second}")
          return %0, %1 : tensor<2xf32>, tensor<2xf32>
        }}
        """)

    for first, second in (("a", "a"), ("a", "b"), ("c", "d")):
        program = tg.compile(module(first, second))
        for name, offsets in ((first, (7, 0)), (second, (0, 7))):
            with pytest.raises(CompilationError, match=f'^"{name}": error: axis 0: offset 7'):
                program(X[0], *offsets)


def test_errors_of_the_interpreter_and_of_stages():
    text = SHRINK.replace("NAME", "/a")
    program = tg.compile(text, target="interpreter")
    with pytest.raises(CompilationError, match=r'"/a/Slice": error: .*offset 5'):
        program(X[0], np.int64(5), np.int64(4))
    custom = """
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = tg.custom "f({0})" (%x) : tensor<8xf32> -> tensor<8xf32> loc("/a/Custom")
      return %0 : tensor<8xf32>
    }
    """
    with pytest.raises(CompilationError, match=r'"/a/Custom": error: tg\.custom is not'):
        tg.compile(custom)


def test_texts_of_a_module_with_names():
    text = SHRINK.replace("NAME", "/a").replace("%0", "%sliced")
    module = load_module(text)
    program = printed(module)
    assert printed(load_module(program.text)).text == program.text
    assert 'loc("/a/Slice")' in program.text
    assert "%sliced" in program.text
    assert program.key == printed(load_module(SHRINK.replace("NAME", "/b"))).key
    assert "loc" not in program.key
    assert "%o" in program.key
    without = load_module(text.replace('loc("/a/Slice")', "").replace('loc("/a/Sum")', ""))
    assert printed(without).text == printed(without).key == str(without)
