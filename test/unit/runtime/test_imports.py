"""What the first compilation of a process imports, and how."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from tgdialect.runtime.speed import imported

EXAMPLES = Path(__file__).parents[3] / "examples"

OTHERS = (
    *("xdsl.dialects.gpu", "xdsl.dialects.memref", "tgdialect.gpu_dialect"),
    *("tgdialect.lowering.render.gpu", "tgdialect.lowering.render.source"),
    *("tgdialect.lowering.optimize.grid", "tgdialect.lowering.linearize.grid"),
    *("tgdialect.lowering.optimize.search", "tgdialect.runtime.beam", "tgdialect.runtime.profile"),
    *("tgdialect.legacy", "tgdialect.interpreter", "tgdialect.frontend", "tgdialect.nn"),
    *("multiprocessing", "ml_dtypes"),
)
"""What a program of few kernels for a CPU does without: 120 ms of 650."""

SCRIPT = """
import gc, sys
collections = []
import tgdialect as tg
compile = tg.compile
from tgdialect.runtime import speed
imported = speed.imported
gc.callbacks.append(lambda phase, info: collections.append(phase))
known = set()
def noted(name):
    collections.clear()
    module = imported(name)
    known.update(sys.modules)
    print("collections", len(collections))
    return module
from tgdialect.runtime import compiler
compiler.imported = noted
with open(sys.argv[1]) as file:
    compile(file.read())
print("later", sorted(sys.modules.keys() - known))
print("others", [name for name in sys.argv[2:] if name in sys.modules])
"""


@pytest.mark.parametrize("name", ["gemm", "softmax"])
def test_a_program_for_a_cpu_imports_what_it_needs_and_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TG_CACHE_DIR", "")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(EXAMPLES / f"{name}.mlir"), *OTHERS],
        capture_output=True,
        text=True,
        check=True,
    )
    *imports, later, others = done.stdout.splitlines()
    assert set(imports) == {"collections 0"}
    assert later == "later []"
    assert others == "others []"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new module that makes more objects than the collector lets pass."""
    (tmp_path / "tg_many_objects.py").write_text("MADE = [[] for _ in range(100_000)]\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tg_many_objects", raising=False)
    return "tg_many_objects"


def test_what_modules_make_is_old_at_once(module: str) -> None:
    gc.unfreeze()  # `conftest.py` has frozen what there was.
    made = imported(module).MADE
    old = {id(each) for each in gc.get_objects(generation=2)}
    assert {id(each) for each in made} <= old
    assert gc.isenabled()
    assert imported(module).MADE is made


def test_what_others_have_frozen_stays_frozen(module: str) -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    imported(module)
    assert gc.get_freeze_count() > 0.9 * frozen  # Some may go meanwhile.


def test_the_collector_is_on_again_after_a_failure() -> None:
    with pytest.raises(ModuleNotFoundError):
        imported("tgdialect.no_such_module")
    assert gc.isenabled()
