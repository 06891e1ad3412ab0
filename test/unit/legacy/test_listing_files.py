"""A listing is a program for every tool: tg-opt writes one, tg-run and tg.compile run it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tgdialect as tg
from tgdialect.diagnostics import CompilationError
from tgdialect.tools.tg_opt import main as tg_opt
from tgdialect.tools.tg_run import main as tg_run

SUM = """\
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<1xf32> {
  %0 = tg.mul %x, %y : tensor<4xf32>
  %1 = tg.reduce add %0 [0] : tensor<4xf32> -> tensor<1xf32>
  func.return %1 : tensor<1xf32>
}
"""
STAGES = "tg-callify,tg-rangeify,tg-optimize,tg-expand,tg-select,tg-linearize,tg-plan"


@pytest.fixture
def listing(tmp_path: Path) -> Path:
    """The listing of a dot product."""
    source, listing = tmp_path / "sum.mlir", tmp_path / "sum.uops"
    source.write_text(SUM)
    assert tg_opt([str(source), "-p", STAGES, "-t", "uops", "-o", str(listing)]) == 0
    return listing


def test_compile(listing: Path):
    x, y = np.arange(1, 5, dtype=np.float32), np.arange(5, 9, dtype=np.float32)
    assert tg.compile(listing, allow_custom=True)(x, y) == 70


def test_run(listing: Path, capsys: pytest.CaptureFixture[str]):
    inputs = ("--input", "1,2,3,4", "--input", "5,6,7,8")
    assert tg_run([str(listing), "--allow-custom", *inputs]) == 0
    assert capsys.readouterr().out == "dense<[70.0]> : tensor<1xf32>\n"


def test_error_of_compile(tmp_path: Path):
    file = tmp_path / "wrong.uops"
    file.write_text("0 UOps.CONST : dtypes.int [1] 4\n")
    with pytest.raises(CompilationError, match=r"wrong.uops:1:28: error: there is no line 1\n"):
        tg.compile(file)


COLOURED = """\
   0 Ops.PARAM  :            dtypes.int.ptr(6)  []           0
   1 Ops.CONST  :            dtypes.int         []           2
   2 Ops.CONST  :            dtypes.int         []           3
   3 Ops.RANGE  : \x1b[34m0\x1b[0m          dtypes.int         ['2']        (0, AxisType.LOOP)
   4 Ops.RANGE  : \x1b[34m0\x1b[0m,\x1b[31m1\x1b[0m        dtypes.int  ['3']  (1, AxisType.LOOP)
   5 Ops.MUL    : 0          dtypes.int         [3, '3']     None
   6 Ops.ADD    : \x1b[34m0\x1b[0m,\x1b[31m1\x1b[0m        dtypes.int         [5, 4]       None
   7 Ops.INDEX  : 0,1        dtypes.int.ptr(6)  [0, 6]       None
   8 Ops.STORE  : 0,1        dtypes.void        [7, 6]       None
   9 Ops.END    :            dtypes.void        [8, 4, 3]    None
"""


def test_the_loops_of_a_line_may_be_coloured_one_by_one(tmp_path):
    (file := tmp_path / "a.uops").write_text(COLOURED)
    np.testing.assert_array_equal(tg.compile(file)(), np.arange(6))


NEG_OF_BOOL = """\
0 UOps.DEFINE_GLOBAL : ptr.dtypes.bool [] (0, True)
1 UOps.DEFINE_GLOBAL : ptr.dtypes.bool [] (1, False)
2 UOps.CONST : dtypes.int [] 0
3 UOps.CONST : dtypes.int [] 2
4 UOps.RANGE : dtypes.int [2, 3] (0, False)
5 UOps.LOAD : dtypes.bool [1, 4] None
6 UOps.ALU : dtypes.bool [5] UnaryOps.NEG
7 UOps.STORE : [0, 4, 6] None
8 UOps.ENDRANGE : [4] None
"""


def test_neg_of_bools_is_not(tmp_path):
    (file := tmp_path / "a.uops").write_text(NEG_OF_BOOL)
    result = tg.compile(file)(np.array([True, False]))
    np.testing.assert_array_equal(result, [False, True])
