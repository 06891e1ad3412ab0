"""Code for the CPU: what it computes, how exact it is, and how errors come out."""

import ctypes
import subprocess
import sys
from collections.abc import Callable
from io import StringIO

import numpy as np
import pytest
from parsing import parse_llvm
from xdsl.context import Context
from xdsl.utils.exceptions import LLVMTranslationException

from tgdialect.backends.asm import AsmTarget
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.llvm_machine import MANY_ACCESSES, MANY_BLOCKS
from tgdialect.runtime.loader import load

X86 = "x86_64-unknown-linux-gnu"
SKYLAKE = CpuTarget(X86, "skylake-avx512", "+fma,+avx,+avx2,+avx512f")
HASWELL = CpuTarget(X86, "haswell", "+sse,+fma,+avx,+avx2,-avx512f")


def function(text: str, result: type | None, *parameters: type) -> Callable[..., int | float]:
    """Compiles the function `f` of a module of the `llvm` dialect."""
    code = load(CpuTarget.host().object_code(llvm_ir(parse_llvm(text))))
    compiled = ctypes.CFUNCTYPE(result, *parameters)(code.address("f"))
    compiled.code = code  # Keeps the code in memory.
    return compiled


def on_arrays(text: str, *arrays: np.ndarray) -> None:
    run = function(text, None, *[ctypes.c_void_p] * len(arrays))
    run(*[array.ctypes.data for array in arrays])


# ---- What it computes ------------------------------------------------------------------------


def test_loop_with_phis():
    run = function(
        """
llvm.func @f(%n: i64) -> i64 {
  %0 = llvm.mlir.constant(0 : i64) : i64
  %1 = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%0, %1, %0 : i64, i64, i64)
^head(%a: i64, %b: i64, %i: i64):
  %2 = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %2, ^body, ^exit
^body:
  %3 = llvm.add %a, %b : i64
  %4 = llvm.add %i, %1 : i64
  llvm.br ^head(%b, %3, %4 : i64, i64, i64)
^exit:
  llvm.return %a : i64
}""",
        ctypes.c_int64,
        ctypes.c_int64,
    )
    # Fibonacci: the two phis swap, so writing one before reading the other would show.
    assert [run(n) for n in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


def test_both_edges_of_a_branch_meet():
    run = function(
        """
llvm.func @f(%c: i32, %a: i32, %b: i32) -> i32 {
  %0 = llvm.trunc %c : i32 to i1
  llvm.cond_br %0, ^meet(%a, %b : i32, i32), ^meet(%b, %b : i32, i32)
^meet(%1: i32, %2: i32):
  %3 = llvm.sub %1, %2 : i32
  llvm.return %3 : i32
}""",
        *[ctypes.c_int32] * 4,
    )
    assert (run(1, 7, 5), run(0, 7, 5)) == (2, 0)


def test_matrix_product():
    """C[64, 48] += A[64, 32] B[32, 48], by vectors of 16, with the accumulator as a phi."""
    rows, columns, inner = 64, 48, 32
    text = f"""
llvm.func @f(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr {{llvm.noalias}}) {{
  %0 = llvm.mlir.constant(0 : i64) : i64
  %1 = llvm.mlir.constant(1 : i64) : i64
  %16 = llvm.mlir.constant(16 : i64) : i64
  %m = llvm.mlir.constant({rows} : i64) : i64
  %n = llvm.mlir.constant({columns} : i64) : i64
  %k = llvm.mlir.constant({inner} : i64) : i64
  %undef = llvm.mlir.undef : vector<16xf32>
  %lane = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^row(%0 : i64)
^row(%i: i64):
  %more = llvm.icmp "slt" %i, %m : i64
  llvm.cond_br %more, ^column(%0 : i64), ^exit
^column(%j: i64):
  %cr = llvm.mul %i, %n overflow<nsw> : i64
  %ci = llvm.add %cr, %j overflow<nsw> : i64
  %cp = llvm.getelementptr inbounds %c[%ci] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %start = llvm.load %cp {{alignment = 4 : i64}} : !llvm.ptr -> vector<16xf32>
  llvm.br ^inner(%0, %start : i64, vector<16xf32>)
^inner(%p: i64, %sum: vector<16xf32>):
  %ar = llvm.mul %i, %k : i64
  %ai = llvm.add %ar, %p : i64
  %ap = llvm.getelementptr %a[%ai] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %av = llvm.load %ap : !llvm.ptr -> f32
  %ins = llvm.insertelement %av, %undef[%lane : i32] : vector<16xf32>
  %splat = llvm.shufflevector %ins, %undef {[0] * 16} : vector<16xf32>
  %br = llvm.mul %p, %n : i64
  %bi = llvm.add %br, %j : i64
  %bp = llvm.getelementptr %b[%bi] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %bv = llvm.load %bp {{alignment = 4 : i64}} : !llvm.ptr -> vector<16xf32>
  %next = llvm.intr.fma(%splat, %bv, %sum)
    : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
  %p1 = llvm.add %p, %1 : i64
  %again = llvm.icmp "slt" %p1, %k : i64
  llvm.cond_br %again, ^inner(%p1, %next : i64, vector<16xf32>), ^store
^store:
  llvm.store %next, %cp {{alignment = 4 : i64}} : vector<16xf32>, !llvm.ptr
  %j1 = llvm.add %j, %16 : i64
  %wide = llvm.icmp "slt" %j1, %n : i64
  llvm.cond_br %wide, ^column(%j1 : i64), ^next
^next:
  %i1 = llvm.add %i, %1 : i64
  llvm.br ^row(%i1 : i64)
^exit:
  llvm.return
}}"""
    random = np.random.default_rng(0)
    a = random.standard_normal((rows, inner), dtype=np.float32)
    b = random.standard_normal((inner, columns), dtype=np.float32)
    c = random.standard_normal((rows, columns), dtype=np.float32)
    expected = c + a.astype(np.float64) @ b
    on_arrays(text, a, b, c)
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("lines", "source", "result"),
    [
        (
            "%1 = llvm.fptosi %0 : vector<4xf32> to vector<4xi32>",
            np.array([1.9, -1.9, 0.0, 7.5], np.float32),
            np.array([1, -1, 0, 7], np.int32),
        ),
        (
            '%1 = llvm.call_intrinsic "llvm.fptosi.sat"(%0) : (vector<4xf32>) -> vector<4xi32>',
            np.array([np.nan, np.inf, -1e10, 2.5], np.float32),
            np.array([0, 2**31 - 1, -(2**31), 2], np.int32),
        ),
        (
            "%1 = llvm.uitofp %0 : vector<4xi32> to vector<4xf32>",
            np.array([-1, 0, 1, -(2**31)], np.int32),
            np.array([2**32, 0, 1, 2**31], np.float32),
        ),
        (
            "%1 = llvm.sitofp %0 : vector<4xi32> to vector<4xf32>",
            np.array([-1, 0, 1, -(2**31)], np.int32),
            np.array([-1, 0, 1, -(2**31)], np.float32),
        ),
        (
            "%1 = llvm.intr.maximum(%0, %z) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>",
            np.array([np.nan, -1, -0.0, 2], np.float32),
            np.array([np.nan, 0, 0, 2], np.float32),
        ),
        (
            "%1 = llvm.intr.maxnum(%0, %z) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>",
            np.array([np.nan, -1, 1, 2], np.float32),
            np.array([0, 0, 1, 2], np.float32),
        ),
        (
            "%1 = llvm.intr.roundeven(%0) : (vector<4xf32>) -> vector<4xf32>",
            np.array([0.5, 1.5, -2.5, 2.6], np.float32),
            np.array([0, 2, -2, 3], np.float32),
        ),
        (
            '%2 = llvm.fcmp "olt" %0, %z : vector<4xf32>\n'
            "%1 = llvm.select %2, %z, %0 : vector<4xi1>, vector<4xf32>",
            np.array([-1, 1, np.nan, -np.inf], np.float32),
            np.array([0, 1, np.nan, 0], np.float32),
        ),
        (
            "%1 = llvm.shufflevector %0, %0 [3, 6, 1, 4] : vector<4xi32>",
            np.array([10, 11, 12, 13], np.int32),
            np.array([13, 12, 11, 10], np.int32),
        ),
    ],
)
def test_vectors(lines: str, source: np.ndarray, result: np.ndarray):
    def vector(array: np.ndarray) -> str:
        return f"vector<4x{'f32' if array.dtype.kind == 'f' else 'i32'}>"

    text = f"""
llvm.func @f(%p: !llvm.ptr, %q: !llvm.ptr) {{
  %z = llvm.mlir.zero : {vector(source)}
  %0 = llvm.load %p {{alignment = 4 : i64}} : !llvm.ptr -> {vector(source)}
  {lines}
  llvm.store %1, %q {{alignment = 4 : i64, nontemporal}} : {vector(result)}, !llvm.ptr
  llvm.return
}}"""
    computed = np.empty_like(result)
    on_arrays(text, source, computed)
    np.testing.assert_array_equal(computed, result)
    if result.dtype.kind == "f":
        zero = result == 0
        np.testing.assert_array_equal(np.signbit(computed[zero]), np.signbit(result[zero]) & False)


def test_masked_access_stays_inside():
    text = """
llvm.func @f(%p: !llvm.ptr, %q: !llvm.ptr) {
  %m = llvm.mlir.constant(dense<[true, false, true, false]> : vector<4xi1>) : vector<4xi1>
  %d = llvm.mlir.constant(dense<-1> : vector<4xi32>) : vector<4xi32>
  %0 = llvm.intr.masked.load %p, %m, %d {alignment = 4 : i32}
    : (!llvm.ptr, vector<4xi1>, vector<4xi32>) -> vector<4xi32>
  %1 = "llvm.intr.vector.reduce.add"(%0) : (vector<4xi32>) -> i32
  llvm.store %1, %p : i32, !llvm.ptr
  llvm.intr.masked.store %0, %q, %m {alignment = 4 : i32}
    : vector<4xi32>, vector<4xi1> into !llvm.ptr
  llvm.return
}"""
    source, target = np.array([1, 2, 3, 4], np.int32), np.array([9, 9, 9, 9], np.int32)
    on_arrays(text, source, target)
    assert target.tolist() == [1, 9, 3, 9]
    assert source[0] == 1 + 3 - 1 - 1


# ---- How exact it is -------------------------------------------------------------------------


def multiply_add(flags: str) -> str:
    attribute = f" {{fastmathFlags = #llvm.fastmath<{flags}>}}" if flags else ""
    return llvm_ir(
        parse_llvm(f"""
llvm.func @f(%a: f32, %b: f32, %c: f32) -> f32 {{
  %0 = llvm.fmul %a, %b{attribute} : f32
  %1 = llvm.fadd %0, %c{attribute} : f32
  llvm.return %1 : f32
}}""")
    )


def test_contraction_needs_the_flag():
    assert "fmadd" not in SKYLAKE.assembly(multiply_add(""))
    assert "fmadd" in SKYLAKE.assembly(multiply_add("contract"))
    code = load(CpuTarget.host().object_code(multiply_add("")))
    run = ctypes.CFUNCTYPE(*[ctypes.c_float] * 4)(code.address("f"))
    # 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: the last term survives only in a fused sum.
    a = 1 + 2**-12
    assert run(a, a, -1 - 2**-11) == 0


def test_a_reduction_is_not_reassociated():
    text = "llvm.func @f(%p: !llvm.ptr) -> f32 {"
    text += "%z = llvm.load %p : !llvm.ptr -> f32\n"
    total = "%z"
    for i in range(1, 8):
        text += f"%p{i} = llvm.getelementptr %p[{i}] : (!llvm.ptr) -> !llvm.ptr, f32\n"
        text += f"%v{i} = llvm.load %p{i} : !llvm.ptr -> f32\n"
        text += f"%s{i} = llvm.fadd {total}, %v{i} : f32\n"
        total = f"%s{i}"
    run = function(f"{text} llvm.return {total} : f32 }}", ctypes.c_float, ctypes.c_void_p)
    values = np.array([1e8, 1, -1e8, 1, 1e8, 1, -1e8, 1], np.float32)
    expected = np.float32(0)
    for value in values:
        expected += value
    assert run(values.ctypes.data) == expected


# ---- The target ------------------------------------------------------------------------------


def test_host_features():
    host = CpuTarget.host()
    assert host.vector_bits in (128, 256, 512)
    assert not host.has("no-such-feature")
    assert host == CpuTarget.host()


def test_vector_bits():
    assert SKYLAKE.vector_bits == 512
    assert HASWELL.vector_bits == 256
    assert HASWELL.has("avx2")
    assert not HASWELL.has("avx512f")
    assert CpuTarget(X86).vector_bits == 0


def test_vectors_use_the_registers_of_the_target():
    ir = llvm_ir(
        parse_llvm("""
llvm.func @f(%a: !llvm.ptr) {
  %0 = llvm.load %a : !llvm.ptr -> vector<16xf32>
  %1 = llvm.fadd %0, %0 : vector<16xf32>
  llvm.store %1, %a : vector<16xf32>, !llvm.ptr
  llvm.return
}""")
    )
    assert "%zmm" in SKYLAKE.assembly(ir)
    assert "%zmm" not in HASWELL.assembly(ir)
    assert "%ymm" in HASWELL.assembly(ir)


def test_stack_slots_become_values():
    ir = llvm_ir(
        parse_llvm("""
llvm.func @f(%a: i32) -> i32 {
  %0 = llvm.mlir.constant(1 : i64) : i64
  %1 = llvm.alloca %0 x i32 : (i64) -> !llvm.ptr
  llvm.store %a, %1 : i32, !llvm.ptr
  %2 = llvm.load %1 : !llvm.ptr -> i32
  llvm.return %2 : i32
}""")
    )
    assert "alloca" in ir
    assert "alloca" not in CpuTarget.host().optimized_ir(ir)


def test_other_architectures():
    ir = llvm_ir(parse_llvm(FUNCTION))
    assert "b\tg" in CpuTarget("aarch64-unknown-linux-gnu").assembly(ir)


FUNCTION = """
llvm.func @g()
llvm.func @f() {
  llvm.call @g() : () -> ()
  llvm.return
}"""


def test_asm_target():
    output = StringIO()
    AsmTarget(triple=X86).emit(Context(), parse_llvm(FUNCTION), output)
    assert "jmp\tg@PLT" in output.getvalue()
    output = StringIO()
    AsmTarget().emit(Context(), parse_llvm(FUNCTION), output)
    assert "f:" in output.getvalue()


# ---- Errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ir", "message"),
    [
        ("define void @f() {", "(?s)LLVM rejects the module: .*end of file"),
        ("define i32 @f(float %0) { ret float %0 }", "LLVM rejects the module"),
        ("define void @f() { br label %a\na: ret void\nb: br label %a\n}", None),
        (
            "define i32 @f(i1 %0) {\n br i1 %0, label %a, label %b\na:\n %x = add i32 1, 2\n"
            " br label %b\nb:\n ret i32 %x\n}",
            "does not dominate",
        ),
        (
            "define i32 @f() { %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n ret i32 %1 }",
            "has no intrinsic 'llvm.nvvm.read.ptx.sreg.tid.x'",
        ),
        ("define ptx_kernel void @f() { ret void }", "has no calling convention 'ptx_kernel'"),
    ],
)
def test_errors(ir: str, message: str | None):
    target = CpuTarget(X86)
    if message is None:
        assert target.object_code(ir)
        return
    with pytest.raises(LLVMTranslationException, match=message):
        target.object_code(ir)


def test_unknown_triple():
    with pytest.raises(LLVMTranslationException, match="no target 'nonsense'"):
        CpuTarget("nonsense").assembly("")


def test_the_tools_do_not_load_llvm_for_the_dialect():
    """`tg-opt` starts without llvmlite and NumPy: they cost more than the rest of it."""
    program = (
        "import sys, tgdialect.llvm_dialect, tgdialect.backends.llvm_ir\n"
        "print([name for name in ('llvmlite', 'numpy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True)
    assert result.stdout.strip() == "[]", result.stderr


@pytest.mark.parametrize(
    ("stores", "is_exempt"), [(MANY_ACCESSES, False), (MANY_ACCESSES + 1, True)]
)
def test_long_blocks_are_not_optimized(stores: int, is_exempt: bool):
    """LLVM compares each pair of the accesses of a block."""
    body = "".join(
        f"""%c{i} = llvm.mlir.constant({i} : i64) : i64
        %p{i} = llvm.getelementptr %a[{i}] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %c{i}, %p{i} : i64, !llvm.ptr
        """
        for i in range(stores)
    )
    text = f"llvm.func @f(%a: !llvm.ptr) {{ {body} llvm.return }}"
    assert ("optnone" in HASWELL.optimized_ir(llvm_ir(parse_llvm(text)))) == is_exempt
    array = np.full(stores, -1, np.int64)
    on_arrays(text, array)
    np.testing.assert_array_equal(array, np.arange(stores))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("blocks", "is_exempt"), [(MANY_ACCESSES + 1, False), (MANY_BLOCKS + 1, True)]
)
def test_functions_of_many_blocks_are_not_optimized(blocks: int, is_exempt: bool):
    body = "".join(
        f"""%p{i} = llvm.getelementptr %a[{i}] : (!llvm.ptr) -> !llvm.ptr, i64
        llvm.store %c, %p{i} : i64, !llvm.ptr
        llvm.br ^b{i + 1}
        ^b{i + 1}:
        """
        for i in range(blocks - 1)
    )
    constant = "%c = llvm.mlir.constant(7 : i64) : i64"
    text = f"llvm.func @f(%a: !llvm.ptr) {{ {constant} {body} llvm.return }}"
    assert ("optnone" in HASWELL.optimized_ir(llvm_ir(parse_llvm(text)))) == is_exempt
    array = np.zeros(blocks - 1, np.int64)
    on_arrays(text, array)
    np.testing.assert_array_equal(array, 7)
