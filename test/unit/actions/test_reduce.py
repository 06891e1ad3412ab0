"""Wrong rewrites in programs of 30 to 1,000 ops are reduced to some ops, which still show them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from seeded import (
    TO_KERNELS,
    TO_LINEAR,
    TO_TARGET,
    LostSubtraction,
    LostSum,
    Reversed,
    ShortLoop,
    lowered,
    wrong,
)
from xdsl.dialects.builtin import ModuleOp

from tgdialect.actions.compare import Difference, first_difference
from tgdialect.actions.predicate import (
    ChangedMeaning,
    CommandOutcome,
    CommandPredicate,
    Condition,
    Raises,
)
from tgdialect.actions.reduce import NotInteresting, Reduced, reduce
from tgdialect.diagnostics import SourceFile, verify_module
from tgdialect.lowering.levels import level_of
from tgdialect.ops import tg
from tgdialect.registry import make_context, parse_program
from tgdialect.runtime.compiler import parse_verified
from tgdialect.runtime.reproducer import leave
from tgdialect.tools import tg_reduce, tg_reduce_session

MOST_OPS = 10
EXAMPLES = Path(__file__).parents[3] / "examples"


def chain(length: int) -> tuple[ModuleOp, Sequence[Any]]:
    """A program of so many ops on integers, of which one subtraction is in the middle."""
    random = np.random.default_rng(length)
    kind = "tensor<4x6xi32>"
    lines = [f"func.func @main(%v0: {kind}, %v1: {kind}) -> ({kind}, {kind}) {{"]
    for number in range(2, length + 2):
        a, b = number - 1, random.integers(max(0, number - 8), number - 1)
        name = "sub" if number == length // 2 else random.choice(["add", "xor"])
        lines.append(f"  %v{number} = tg.{name} %v{a}, %v{b} : {kind}")
    lines.append(f"  return %v{length}, %v{length + 1} : {kind}, {kind}\n}}")
    module = parse_verified("chain.mlir", "\n".join(lines))
    return module, [random.integers(-9, 9, (4, 6)).astype(np.int32) for _ in range(2)]


def example(name: str, *shapes: tuple[int, ...]) -> tuple[ModuleOp, Sequence[Any]]:
    module = parse_verified(name, (EXAMPLES / f"{name}.mlir").read_text())
    random = np.random.default_rng(1)
    return module, [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def assert_reduced(done: Reduced, predicate: Any, most: int = MOST_OPS) -> None:
    assert done.complete
    verify_module(done.module)
    assert predicate(done.module.clone(), done.inputs)
    assert done.ops <= most, f"{done.module}"


@pytest.mark.parametrize("length", [30, 300, 1000])
def test_a_wrong_op_is_all_that_stays(length: int):
    module, inputs = chain(length)
    before = str(module)
    predicate = ChangedMeaning("main", wrong(Reversed(tg.SubOp)))
    done = reduce(module, predicate, inputs=inputs)
    assert_reduced(done, predicate, 2)
    assert str(module) == before
    assert [op.name for op in done.module.walk() if op.name == "tg.sub"] == ["tg.sub"]
    assert all(np.asarray(array).size == 1 for array in done.inputs or ())
    assert done.runs < 120


FOLD = """
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.mul %a, %c : tensor<4xf32>
  %1 = tg.add %0, %b : tensor<4xf32>
  %2 = tg.mul %b, %c : tensor<4xf32>
  %3 = tg.max %2, %a : tensor<4xf32>
  %4 = tg.sub %1, %b : tensor<4xf32>
  %5 = tg.mul %4, %3 : tensor<4xf32>
  %6 = tg.add %5, %5 : tensor<4xf32>
  return %6 : tensor<4xf32>
}"""


def test_a_wrong_rule_of_two_ops_keeps_both():
    module = parse_verified("fold.mlir", FOLD)
    inputs = [np.arange(1, 5, dtype=np.float32) * k for k in (1, 2, 3)]
    predicate = ChangedMeaning("main", wrong(LostSum()))
    done = reduce(module, predicate, inputs=inputs)
    assert_reduced(done, predicate, 2)
    assert {op.name for op in done.module.walk()} >= {"tg.add", "tg.sub"}


def test_a_function_in_the_program_is_inlined():
    text = """func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
      %f = tg.function(%a, %b) {
        %x = tg.param 0 : tensor<4xi32>
        %y = tg.param 1 : tensor<4xi32>
        %0 = tg.mul %x, %y : tensor<4xi32>
        %1 = tg.sub %0, %y : tensor<4xi32>
        %t = tg.tuple %1, %0 : tensor<4xi32>, tensor<4xi32>
          -> !tg.tuple<tensor<4xi32>, tensor<4xi32>>
      } : (tensor<4xi32>, tensor<4xi32>) -> !tg.tuple<tensor<4xi32>, tensor<4xi32>>
      %g = tg.gettuple %f 0 : !tg.tuple<tensor<4xi32>, tensor<4xi32>> -> tensor<4xi32>
      %h = tg.add %g, %a : tensor<4xi32>
      return %h : tensor<4xi32>
    }"""
    module = parse_verified("function.mlir", text)
    predicate = ChangedMeaning("main", wrong(Reversed(tg.SubOp)))
    inputs = [np.arange(4, dtype=np.int32), np.arange(4, dtype=np.int32) + 3]
    assert_reduced(reduce(module, predicate, inputs=inputs), predicate, 2)


def test_parameters_of_the_entry_are_dropped_with_their_inputs():
    text = """func.func @main(%z: tensor<4xi32>) -> tensor<4xi32> {
      %x = tg.param 0 : tensor<4xi32>
      %y = tg.param 1 : tensor<4xi32>
      %n = tg.param 2 "n" min 0 max 64 : tensor<index>
      %w = tg.param 3 : tensor<6xi32>
      %0 = tg.mul %x, %y : tensor<4xi32>
      %1 = tg.sub %0, %z : tensor<4xi32>
      return %1 : tensor<4xi32>
    }"""
    predicate = ChangedMeaning("main", wrong(Reversed(tg.SubOp)))
    arrays = [np.arange(4, dtype=np.int32) + k for k in (5, 1, 2)]
    inputs = [*arrays, np.int64(4), np.arange(6, dtype=np.int32)]
    done = reduce(parse_verified("parameters.mlir", text), predicate, inputs=inputs)
    assert_reduced(done, predicate, 1)
    assert len(done.inputs or ()) == 2


LEVELS = {
    "kernels": (TO_KERNELS, Reversed(tg.SubOp), example("softmax", (2, 4))),
    "target": (TO_TARGET, Reversed(tg.SubOp), example("softmax", (2, 4))),
    "linear": (TO_LINEAR, Reversed(tg.SubOp), example("softmax", (2, 4))),
    "loops": (TO_KERNELS, ShortLoop(), example("gemm", (2, 3), (3, 4))),
    "last loops": (TO_LINEAR, ShortLoop(), example("gemm", (2, 3), (3, 4))),
}


@pytest.mark.parametrize("name", LEVELS)
def test_kernels_lose_their_loops_and_memory(name: str):
    pipeline, pattern, (module, inputs) = LEVELS[name]
    module = lowered(module, pipeline)
    predicate = ChangedMeaning("main", wrong(pattern))
    done = reduce(module, predicate, inputs=inputs)
    assert_reduced(done, predicate)
    assert level_of(done.module) is not None


@pytest.mark.parametrize("pipeline", [TO_TARGET, TO_LINEAR])
def test_a_kernel_stores_what_the_wrong_op_computes(pipeline: str):
    """The memory of the result has the dtype of a comparison then."""
    text = """func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
      %0 = tg.cmplt %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %1 = tg.where %0, %a, %b : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %2 = tg.cast %0 to f32 : tensor<3xi1> -> tensor<3xf32>
      %3 = tg.mul %1, %2 : tensor<3xf32>
      return %3 : tensor<3xf32>
    }"""
    module = lowered(parse_verified("comparison.mlir", text), pipeline)
    predicate = ChangedMeaning("main", wrong(Reversed(tg.CmpLtOp)))
    inputs = [np.array([1, 5, 3], np.float32), np.array([4, 2, 9], np.float32)]
    assert_reduced(reduce(module, predicate, inputs=inputs), predicate)


FOREIGN = {
    "cf": """func.func @f(%n: i32, %x: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %c = arith.cmpi slt, %n, %c0 : i32
      cf.cond_br %c, ^bb1(%x : i32), ^bb2(%n : i32)
    ^bb1(%a: i32):
      %s = arith.subi %a, %n : i32
      %s2 = arith.muli %s, %n : i32
      cf.br ^bb3(%s2 : i32)
    ^bb2(%b: i32):
      %t = arith.subi %x, %b : i32
      %t1 = arith.addi %t, %b : i32
      cf.br ^bb3(%t1 : i32)
    ^bb3(%r: i32):
      %q = arith.muli %r, %r : i32
      return %q : i32
    }""",
    "scf": """func.func @f(%n: i32, %x: i32) -> i32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (i32) {
        %m = arith.muli %a, %n : i32
        %s = arith.subi %m, %x : i32
        %t = arith.addi %s, %n : i32
        scf.yield %t : i32
      }
      %k = arith.xori %r, %n : i32
      return %k : i32
    }""",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_dialects_of_xdsl(name: str):
    """They run on xDSL's interpreter; loops and conditionals become what is executed once."""
    module = parse_program(make_context(), SourceFile("foreign.mlir", FOREIGN[name]))
    predicate = ChangedMeaning("f", wrong(LostSubtraction()))
    done = reduce(module, predicate, inputs=[3, 2], entry="f")
    assert_reduced(done, predicate, 2)
    names = [op.name for op in done.module.walk()]
    assert names == ["builtin.module", "func.func", "arith.subi", "arith.addi", "func.return"]


def test_the_result_does_not_depend_on_the_number_of_jobs():
    module, inputs = chain(40)
    predicate = ChangedMeaning("main", wrong(Reversed(tg.SubOp)))
    one, two = (reduce(module, predicate, inputs=inputs, jobs=jobs) for jobs in (1, 2))
    assert str(one.module) == str(two.module)
    assert one.runs == two.runs
    assert one.inputs is not None
    assert two.inputs is not None
    for a, b in zip(one.inputs, two.inputs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_search_that_is_stopped_goes_on():
    module, inputs = chain(200)
    predicate = ChangedMeaning("main", wrong(Reversed(tg.SubOp)))
    whole = reduce(module, predicate, inputs=inputs)
    first = reduce(module, predicate, inputs=inputs, seconds=0)
    assert not first.complete
    then = reduce(first.module, predicate, inputs=first.inputs, step=first.step, runs=first.runs)
    assert_reduced(then, predicate, 2)
    assert then.ops == whole.ops


ADDED = """func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.add %a, %a : tensor<3xf32>
  %1 = tg.sqrt %0 : tensor<3xf32>
  %2 = tg.mul %1, %0 : tensor<3xf32>
  %3 = tg.exp2 %2 : tensor<3xf32>
  return %3 : tensor<3xf32>
}
"""


def test_the_command_goes_on_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """After Ctrl-C there are the smallest program so far and a state, which the end removes."""
    monkeypatch.chdir(tmp_path)
    Path("file.mlir").write_text(ADDED)
    args = ["file.mlir", "--jobs=1", "--command", "grep -q tg.sqrt", "-o", "out.mlir"]
    keep = tg_reduce_session._Session.keep  # pyright: ignore[reportPrivateUsage]

    def interrupt(self: Any, best: Reduced, start: Reduced) -> None:
        keep(self, best, start)
        if best.runs >= 3 and best.ops < 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(tg_reduce_session._Session, "keep", interrupt)  # pyright: ignore
        assert tg_reduce.main(args) == 130
    assert "tg.sqrt" in Path("out.mlir").read_text()
    state = json.loads(Path("out.mlir.state").read_text())
    assert state["runs"] >= 3
    assert tg_reduce.main(args) == 0
    assert "to 1 ops" in capsys.readouterr().err
    assert not Path("out.mlir.state").exists()
    assert Path("out.mlir").read_text().count("tg.") == 1


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"key": 5}', "é☃"])
def test_a_state_that_is_no_state(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """It is one error, unless it is that of another command."""
    monkeypatch.chdir(tmp_path)
    Path("file.mlir").write_text(ADDED)
    Path("out.mlir.state").write_text(text)
    code = tg_reduce.main(["file.mlir", "--jobs=1", "--command", "false", "-o", "out.mlir"])
    assert code == 1
    assert ("cannot go on from" in (err := capsys.readouterr().err)) is (text != '{"key": 5}'), err
    assert not Path("out.mlir").exists()


def test_conditions_of_commands():
    outcome = CommandOutcome(134, 2.5, "a b", "core dumped")
    for text, holds in {
        "exit == 134": True,
        "exit != 134": False,
        "exit>=100": True,
        "seconds < 3": True,
        "seconds > 2.75": False,
        "stdout ~ a b": True,
        "stderr ~ dumped": True,
        "stderr !~ dumped": False,
    }.items():
        assert Condition.parse(text)(outcome) is holds, text
    for text in ("exit = 1", "exit", "stdout == a", "seconds > x", "stdout ~", "__import__ ~ x"):
        with pytest.raises(ValueError, match="is none of"):
            Condition.parse(text)


def test_differences():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = x.copy()
    assert first_difference([x, 1], [y, 1]) is None
    y[1, 0] += 0.5
    assert first_difference([x, y], [x, x]) == Difference(1, (1, 0), y[1, 0], x[1, 0], 1)
    nan = np.float32(np.nan)
    assert first_difference([nan], [nan]) is None
    assert first_difference([nan], [np.float32(1)]) is not None
    assert first_difference([np.int64(2**60)], [np.int64(2**60 + 1)]) is not None
    assert str(first_difference([x], [x.astype(np.int32)])) == (
        "result 0: float32[2, 3], not int32[2, 3]"
    )


def test_crashes_and_hangs_of_candidates():
    module, _ = chain(30)

    def crash(module: ModuleOp, _: object) -> bool:
        if any(isinstance(op, tg.SubOp) for op in module.walk()):
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    done = reduce(module, crash, timeout=30, crashes=True)
    assert done.ops <= 2
    assert any(isinstance(op, tg.SubOp) for op in done.module.walk())

    def hang(module: ModuleOp, _: object) -> bool:
        if not any(isinstance(op, tg.SubOp) for op in module.walk()):
            time.sleep(60)
        return True

    start = time.monotonic()
    short, _ = chain(4)
    assert reduce(short, hang, timeout=0.5, seconds=4).ops >= 1
    assert time.monotonic() - start < 30


def test_errors_of_passes():
    def refuse(module: ModuleOp) -> None:
        for op in module.walk():
            if isinstance(op, tg.XorOp):
                raise KeyError("xor")

    module, _ = chain(60)
    done = reduce(module, Raises(refuse, "xor"))
    assert [op.name for op in done.module.walk() if op.name.startswith("tg.")] == ["tg.xor"]


def test_a_program_that_is_not_interesting():
    module, inputs = chain(30)
    with pytest.raises(NotInteresting):
        reduce(module, ChangedMeaning("main", lambda module: None), inputs=inputs)


def test_commands():
    module, _ = chain(20)
    script = "import sys; sys.exit('tg.sub' not in open(sys.argv[1]).read())"
    done = reduce(module, CommandPredicate([sys.executable, "-c", script]))
    assert [op.name for op in done.module.walk() if op.name.startswith("tg.")] == ["tg.sub"]


def test_candidates_leave_no_reproducers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """They fail on purpose, and would take the places of the files of others."""
    monkeypatch.setenv("TG_REPRODUCER_DIR", str(tmp_path))

    def fails(module: ModuleOp, inputs: object) -> bool:
        leave("compile", str(module), error="failed")
        return True

    module, inputs = chain(30)
    reduce(module, fails, inputs=inputs)
    assert not [*tmp_path.iterdir()]
    assert leave("compile", str(module), error="failed") is not None
