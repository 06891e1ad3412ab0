"""The battery on this processor: it finds what is wrong, and goes on after a program that fails."""

from __future__ import annotations

import sys

import emulate
import programs
from emulated_battery import Array, Case, cases, outcomes


def test_enough_programs():
    names = [case.name for case in cases()]
    assert len({*names}) == len(names) >= 40


def test_outcomes():
    gemm = programs.gemm(2, 3, 4)

    def case(name: str, text: str, wrong: str = "") -> Case:
        def compare(results: list[Array]) -> str:
            (result,) = results
            assert abs(result - gemm.expected).max() < 1e-5
            return wrong

        return Case(name, text, gemm.inputs, [gemm.expected.astype("float32")], compare)

    text = str(gemm.module)
    made = [
        case("a-right", text),
        case("b-wrong", text, "error 1.0"),
        case("c-no-program", "module {"),
        case("d-right", text),
    ]
    wrong, refused = outcomes([sys.executable], made, emulate.environment())
    assert wrong == "b-wrong: error 1.0"
    assert refused.startswith("c-no-program: ended with 1: ")
