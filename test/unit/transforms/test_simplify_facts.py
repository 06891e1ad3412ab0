"""The search for the best bound of a sum tries each multiple of a fact once."""

from __future__ import annotations

from itertools import chain

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from tgdialect.dialect import TG
from tgdialect.transforms.simplify import assumptions, simplify

INDEX = "tensor<index>"
FACTS, ATOMS = 6, 5


def total(result: str, values: list[str]) -> list[str]:
    """The ops that add values."""
    partial = [values[0], *(f"{result}_{i}" for i in range(2, len(values))), result]
    return [
        f"%{new} = tg.add %{old}, %{value} : {INDEX}"
        for old, value, new in zip(partial, values[1:], partial[1:], strict=False)
    ]


def test_facts_of_many_atoms(monkeypatch: pytest.MonkeyPatch):
    """Each of 6 facts bounds the sum of 5 values of its own: 6^6 paths, but 2^6 sums."""
    searched: list[object] = []
    search = assumptions._Assuming._least

    def count(*arguments):
        searched.append(arguments)
        return search(*arguments)

    monkeypatch.setattr(assumptions._Assuming, "_least", count)
    lines = [
        "%o = tg.param 0 : tensor<1xindex, #tg.place<global>>",
        f"%zero = tg.const 0 : {INDEX}",
        f"%limit = tg.const 20 : {INDEX}",
        f"%n = tg.const 115 : {INDEX}",
    ]
    groups = [[f"v{i}_{j}" for j in range(ATOMS)] for i in range(FACTS)]
    for slot, value in enumerate(chain(*groups), 1):
        lines.append(f"%{value} = tg.param {slot} min 0 max 9 : {INDEX}")
    for i, group in enumerate(groups):
        lines += total(f"s{i}", group)
        lines.append(f"%c{i} = tg.cmplt %s{i}, %limit : ({INDEX}, {INDEX}) -> tensor<i1>")
    lines += total("sum", [f"s{i}" for i in range(FACTS)])
    conditions = ["c0", *(f"all{i}" for i in range(1, FACTS))]
    for i in range(1, FACTS):
        lines.append(f"%all{i} = tg.and %{conditions[i - 1]}, %c{i} : tensor<i1>")
    lines += [
        f"%mod = tg.mod %sum, %n : {INDEX}",
        f"%chosen = tg.where %{conditions[-1]}, %mod, %zero : "
        f"(tensor<i1>, {INDEX}, {INDEX}) -> {INDEX}",
        f"%cell = tg.index %o[%zero] : (tensor<1xindex, #tg.place<global>>, {INDEX}) "
        "-> tensor<index, #tg.place<global>>",
        f"%store = tg.store %cell, %chosen : tensor<index, #tg.place<global>>, {INDEX}",
        "%sink = tg.sink %store : !tg.void",
    ]
    context = Context()
    for dialect in (Builtin, TG):
        context.load_dialect(dialect)
    module = Parser(context, "tg.kernel @k {\n" + "\n".join(lines) + "\n}").parse_module()
    simplify(module)
    module.verify()
    # The sum is at most 6 * 19 = 114.
    assert "tg.mod" not in str(module)
    assert len(searched) < 1000
