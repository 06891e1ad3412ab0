"""What `tg-simplify` does under conditions is linear in the size of the program."""

from __future__ import annotations

import pytest
from parsing import parse_module

from tgdialect.transforms.simplify import simplify
from tgdialect.transforms.simplify.engine import Engine


def visits(text: str, patch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many ops a program has, and how many are looked at."""
    module = parse_module(text)
    size, count = sum(1 for _ in module.walk()), 0
    visit = Engine._visit  # pyright: ignore[reportPrivateUsage]

    def counted(self: Engine, op: object) -> object:
        nonlocal count
        count += 1
        return visit(self, op)  # pyright: ignore[reportArgumentType]

    with patch.context() as inner:
        inner.setattr(Engine, "_visit", counted)
        simplify(module)
    return size, count


def masks(steps: int) -> str:
    """Indices that are clamped again and again, each under a mask of both bounds; of floats once
    select has been, no two are known to be equal."""
    v, f, b = (f"tensor<8x{dtype}>" for dtype in ("index", "f32", "i1"))
    body = "\n".join(
        f"""
        %f{i} = tg.cast %v{i} to f32 : {v} -> {f}
        %d{i} = tg.div %f{i}, %three : ({f}, tensor<f32>) -> {f}
        %t{i} = tg.trunc %d{i} : {f}
        %b{i} = tg.cmplt %d{i}, %t{i} : ({f}, {f}) -> {b}
        %w{i} = tg.where %b{i}, %d{i}, %t{i} : ({b}, {f}, {f}) -> {f}
        %i{i} = tg.cast %w{i} to index : {f} -> {v}
        %n{i} = tg.cmplt %i{i}, %zero : ({v}, tensor<index>) -> {b}
        %e{i} = tg.add %i{i}, %four : ({v}, tensor<index>) -> {v}
        %p{i} = tg.where %n{i}, %e{i}, %i{i} : ({b}, {v}, {v}) -> {v}
        %l{i} = tg.cmplt %less, %p{i} : (tensor<index>, {v}) -> {b}
        %h{i} = tg.cmplt %p{i}, %four : ({v}, tensor<index>) -> {b}
        %m{i} = tg.and %l{i}, %h{i} : {b}
        %v{i + 1} = tg.where %m{i}, %p{i}, %zero : ({b}, {v}, tensor<index>) -> {v}"""
        for i in range(steps)
    )
    return f"""tg.kernel @k for "cpu" {{
      %o = tg.param 0 : tensor<8xindex, #tg.place<global>>
      %v0 = tg.vconst [1, 2, 3, 4, 5, 6, 7, 8] : tensor<8xindex>
      %zero = tg.const 0 : tensor<index>
      %less = tg.const -1 : tensor<index>
      %four = tg.const 4 : tensor<index>
      %three = tg.const 3.0 : tensor<f32>
      {body}
      %s = tg.store %o, %v{steps} : tensor<8xindex, #tg.place<global>>, tensor<8xindex>
      %e = tg.sink %s : !tg.void
    }}"""


def test_masks_within_masks(monkeypatch: pytest.MonkeyPatch):
    for steps in (1, 4, 16):
        size, count = visits(masks(steps), monkeypatch)
        assert count < 6 * size
