"""Sources in C-like languages: those of the tutorial, and kernels for a grid that PoCL runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from kernels import on_opencl
from opencl_device import DEVICE, needs_opencl
from xdsl.parser import Parser

import tgdialect as tg
from tgdialect.backends import c_compiler
from tgdialect.backends.sources import source_of
from tgdialect.lowering.pipeline import ToSourcePass
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.dtypes import DTYPES, TYPES
from tgdialect.registry import make_context

ROOT = Path(__file__).parents[3]
GRID = ROOT / "test" / "filecheck" / "backends" / "sources" / "grid.mlir"

TUTORIAL = """
kernel void r_4(device int* data0, const device int* data1, const device int* data2,
    uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  int acc0 = 0;
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    int val0 = *(data1+ridx0);
    int val1 = *(data2+ridx0);
    acc0 = ((val0*val1)+acc0);
  }
  *(data0+0) = acc0;
}
"""
UPCAST = """
kernel void r_4(device int* data0, const device int* data1, const device int* data2,
    uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  int val0 = *(data1+0);
  int val1 = *(data1+1);
  int val2 = *(data1+2);
  int val3 = *(data1+3);
  int val4 = *(data2+0);
  int val5 = *(data2+1);
  int val6 = *(data2+2);
  int val7 = *(data2+3);
  *(data0+0) = ((val3*val7)+(val2*val6)+(val1*val5)+(val0*val4));
}
"""
"""The Metal kernels of the upcast tutorial. The second one has an `acc0` there, which is 0."""

DOT = """
#g = #tg.place<global>
#c = #tg.place<"CPU", global>
#scalars = #tg.target<"metal", vector_bits = 0, vector_registers = 0>
builtin.module attributes {{tg.target = #scalars}} {{
  tg.kernel @dot {{
    %o = tg.param 0 : tensor<1xi32, #g>
    %a = tg.param 1 : tensor<4xi32, #g>
    %b = tg.param 2 : tensor<4xi32, #g>
    %z = tg.const 0 : tensor<index>
    %n = tg.const 4 : tensor<index>
    %i = tg.range 0 {kind} to %n : tensor<index>
    %p = tg.index %a[%i] : (tensor<4xi32, #g>, tensor<index>) -> tensor<i32, #g>
    %x = tg.load %p : tensor<i32, #g> -> tensor<i32>
    %q = tg.index %b[%i] : (tensor<4xi32, #g>, tensor<index>) -> tensor<i32, #g>
    %y = tg.load %q : tensor<i32, #g> -> tensor<i32>
    %m = tg.mul %x, %y : tensor<i32>
    %r = tg.reduce add %m [] over %i : tensor<i32> -> tensor<i32>
    %l = tg.index %o[%z] : (tensor<1xi32, #g>, tensor<index>) -> tensor<i32, #g>
    %s = tg.store %l, %r : tensor<i32, #g>, tensor<i32>
    %k = tg.sink %s opts [] : !tg.void
  }}
  func.func @main(%a: tensor<4xi32, #c>, %b: tensor<4xi32, #c>,
                  %o: tensor<1xi32, #c> {{tg.output}}) {{
    %0 = tg.call @dot(%o, %a, %b) : (tensor<1xi32, #c>,
      tensor<4xi32, #c>, tensor<4xi32, #c>) -> !tg.void
    %1 = tg.sink %0 : !tg.void
    func.return
  }}
}}
"""


def parsed(text: str):
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def alike(text: str) -> list[str]:
    """The tokens of a kernel, its names by the order in which they come."""
    body = text[text.index("kernel void") :]
    tokens = re.findall(r"\w+|[^\w\s]", body)
    fixed = {"kernel", "void", "device", "const", "int", "uint3", "for"}
    names: dict[str, str] = {}
    return [
        names.setdefault(token, f"name{len(names)}")
        if token.isidentifier() and token not in fixed
        else token
        for token in tokens
    ]


@pytest.mark.parametrize(("kind", "expected"), [("reduce", TUTORIAL), ("unroll", UPCAST)])
def test_metal_kernels_are_those_of_the_tutorial(kind: str, expected: str):
    module = parsed(DOT.format(kind=kind))
    for stage in ToSourcePass(target=None, output="metal").pipeline()[3:]:
        stage.lower(module)
    assert alike(source_of(module, "metal")) == alike(expected)


def test_a_kernel_for_a_grid_on_opencl():
    """Workgroups, work items, shared memory, a barrier and vectors."""
    kernel = on_opencl(source_of(parsed(GRID.read_text()), "opencl"))("reverse")
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    kernel(out, x, groups=(4, 1, 1))
    # Each work item copies four neighbours in order.
    expected = 2 * x.reshape(4, 16, 4)[:, ::-1].reshape(256)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["i32", "ui32", "i64", "ui64", "f32", "f64"])
def test_atomic_add_on_opencl(dtype: str):
    """64 work items of 4 workgroups add to one of 3 cells each."""
    memory = f"tensor<3x{dtype}, #tg.place<global>>"
    one = "1.0" if dtype[0] == "f" else "1"
    text = f"""
    builtin.module attributes {{tg.target = #tg.target<"opencl">}} {{
      tg.program @count {{
        %0 = tg.linear {{
          %o = tg.param 0 : {memory}
          %four = tg.const 4 : tensor<index>
          %sixteen = tg.const 16 : tensor<index>
          %three = tg.const 3 : tensor<index>
          %g = tg.special "gidx0" to %four : tensor<index>
          %l = tg.special "lidx0" to %sixteen : tensor<index>
          %at = tg.add %g, %l : tensor<index>
          %cell = tg.mod %at, %three : tensor<index>
          %p = tg.index %o[%cell] : ({memory}, tensor<index>) -> tensor<{dtype}, #tg.place<global>>
          %v = tg.const {one} : tensor<{dtype}>
          %a = tg.atomicadd %p, %v : tensor<{dtype}, #tg.place<global>>, tensor<{dtype}>
          %k = tg.sink %a : !tg.void
        }}
      }}
    }}
    """
    out = np.zeros(3, numpy_dtype(DTYPES[TYPES[dtype]]))
    on_opencl(source_of(parsed(text), "opencl"))("count")(out, groups=(4, 1, 1))
    cells = np.add.outer(np.arange(4), np.arange(16)) % 3
    np.testing.assert_array_equal(out, np.bincount(cells.ravel()))


@pytest.mark.sampled(6)
@needs_opencl
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("number", ["inf", "-inf", "nan"])
def test_constants_that_have_no_literal_on_opencl(dtype: str, number: str):
    """In a function that has overloads."""
    vector = f"tensor<4x{dtype}>"
    text = f"""func.func @main(%x: {vector}) -> {vector} {{
      %n = tg.const {number} : tensor<{dtype}>
      %r = tg.mulacc %x, %n, %x : ({vector}, tensor<{dtype}>, {vector}) -> {vector}
      return %r : {vector}
    }}"""
    x = np.array([1, -2, 0, np.inf], numpy_dtype(DTYPES[TYPES[dtype]]))
    with np.errstate(invalid="ignore"):
        expected = x * x.dtype.type(number) + x
    result = tg.compile(text, target=DEVICE)(x)
    np.testing.assert_array_equal(result.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("has_cache", [False, True])
def test_no_c_compiler(has_cache: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path) if has_cache else "")
    for cached in (c_compiler.compiler, c_compiler.compiler_version):
        cached.cache_clear()
    text = (ROOT / "examples" / "gemm.mlir").read_text()
    with pytest.raises(tg.CompilationError, match="needs a C compiler, and there is no 'no-such-c"):
        tg.compile(text, target="c")
    c_compiler.compiler.cache_clear()
