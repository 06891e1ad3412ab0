"""LLVM IR text: against upstream's translation, LLVM's parser, and exact values."""

import ctypes
import math
import re
import shutil
import struct
import subprocess
from io import StringIO

import llvmlite.binding as llvm
import ml_dtypes
import numpy as np
import pytest
from parsing import ops_of_llvm_19, parse_llvm
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    StringAttr,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i32,
)
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.utils.exceptions import LLVMTranslationException

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import LlvmIrTarget, llvm_ir
from tgdialect.backends.llvm_ir.values import attribute_text, float_text
from tgdialect.runtime.loader import load


def renumbered(text: str) -> str:
    """Values and blocks numbered as they are defined, and the edges of a phi in that order."""
    header, _, body = text.partition("\n")
    definitions = re.findall(r"^\s*(%[\w.]+)(?: =|:)", body, re.MULTILINE)
    names = [*re.findall(r"%[\w.]+", header), *definitions]
    number = {name: f"%{index}" for index, name in enumerate(names)}
    text = re.sub(r"%[\w.]+", lambda name: number.get(name[0], "%entry"), text)
    return re.sub(
        r"(?<= )\[ .* \]$",
        lambda edges: ", ".join(sorted(re.findall(r"\[ .*? \]", edges[0]))),
        text,
        flags=re.MULTILINE,
    )


def normalized(ir: str) -> dict[str, str]:
    """Each function and global of a module as LLVM prints it, with values renumbered."""
    module = llvm.parse_assembly(ir)
    module.verify()
    attributes = dict(re.findall(r"^attributes (#\d+) = \{ (.*) \}$", str(module), re.MULTILINE))
    items: dict[str, str] = {}
    for symbol in (*module.global_variables, *module.functions):
        if symbol.name.startswith("llvm."):
            continue
        text = re.sub(r"^; .*\n|; preds = .*", "", str(symbol), flags=re.MULTILINE)
        text = re.sub(r"\{\n\w+:.*\n", "{\n", text)  # The entry's label: upstream gives none.
        text = re.sub(r"^([\w.]+):", r"%\1:", text, flags=re.MULTILINE)
        text = re.sub(r"#\d+", lambda number: " ".join(sorted(attributes[number[0]].split())), text)
        text = renumbered(text)
        items[symbol.name] = re.sub(r"\s*!\d+|[ ]+$", "", text, flags=re.MULTILINE).strip()
    return items


@pytest.mark.skipif(shutil.which("mlir-translate-19") is None, reason="needs mlir-translate-19")
def test_same_ir_as_upstream():
    module = parse_llvm(ops_of_llvm_19())
    result = subprocess.run(
        ["mlir-translate-19", "--mlir-to-llvmir"], input=str(module), text=True, capture_output=True
    )
    assert result.returncode == 0, result.stderr
    upstream = normalized(result.stdout)
    ours = normalized(llvm_ir(module))
    # Upstream splits the edges of one branch in another way, and keeps blocks that nothing reaches.
    apart = {"meet", "unreached"}
    assert ours.keys() == upstream.keys()
    for name in ours.keys() - apart:
        assert ours[name].splitlines() == upstream[name].splitlines()


def test_target_writes_the_module():
    output = StringIO()
    module = parse_llvm("llvm.func @f() { llvm.return }")
    LlvmIrTarget().emit(Context(), module, output)
    assert output.getvalue() == "define void @f() {\nbb0:\n  ret void\n}\n"


# ---- Constants -------------------------------------------------------------------------------


def constant_bits(type: str, text: str, size: int) -> bytes:
    """The bytes that LLVM stores for a constant."""
    code = load(CpuTarget.host().object_code(f"@x = constant {type} {text}"))
    return ctypes.string_at(code.address("x"), size)


FLOATS = (
    *(1.0, -0.0, 0.1, 1 / 3, 65504.0, 1e-45, 6e-8, 3.4028234663852886e38, 1.7e308, 5e-324),
    *(math.inf, -math.inf, math.nan, -2.5, 123456789.0, 1.0000001),
)


@pytest.mark.parametrize("value", FLOATS)
@pytest.mark.parametrize(
    ("type", "spelling", "dtype"),
    [
        (f64, "double", np.float64),
        (f32, "float", np.float32),
        (f16, "half", np.float16),
        (bf16, "bfloat", ml_dtypes.bfloat16),
    ],
)
def test_floats_are_exact(type, spelling, dtype, value: float):
    with np.errstate(over="ignore"):
        expected = np.array(value, dtype=dtype)
    text = float_text(FloatAttr(float(expected), type).value.data, type)
    assert constant_bits(spelling, text, expected.nbytes) == expected.tobytes()


def test_nan_keeps_its_payload():
    bits = 0xFFF8000000000ABC
    value = struct.unpack("<d", struct.pack("<Q", bits))[0]
    assert constant_bits("double", float_text(value, f64), 8) == struct.pack("<Q", bits)


def test_dense_arrays_are_in_row_major_order():
    elements = np.arange(24, dtype=np.int32).reshape(2, 3, 4) - 5
    type = LLVMArrayType(2, LLVMArrayType(3, LLVMArrayType(4, i32)))
    value = DenseIntOrFPElementsAttr.from_list(
        TensorType(i32, [2, 3, 4]), elements.ravel().tolist()
    )
    text = attribute_text(value, type)
    assert constant_bits("[2 x [3 x [4 x i32]]]", text, elements.nbytes) == elements.tobytes()


def test_strings_hold_any_byte():
    text = attribute_text(StringAttr('a"\\\0\n'), LLVMArrayType(5, i8))
    assert constant_bits("[5 x i8]", text, 5) == b'a"\\\0\n'


# ---- What has no translation -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('llvm.func @f() { "test.op"() : () -> ()\n llvm.return }', "'test.op' has no translation"),
        ('"test.op"() : () -> ()', "'test.op' in a module has no translation"),
        ("llvm.func @f() { %0 = llvm.mlir.undef : vector<2x2xf32>\n llvm.return }", "no type"),
        ("llvm.func @f() { %0 = llvm.mlir.undef : index\n llvm.return }", "no type index"),
        ("llvm.func @f(%a: i32 {llvm.strange}) { llvm.return }", "'llvm.strange = unit'"),
        (
            "llvm.func @f() { %0 = llvm.mlir.constant(1.0 : f32) : i32\n llvm.return }",
            "not an LLVM IR constant of type i32",
        ),
        (
            "llvm.func @f() { llvm.br ^bb1\n^bb1:\n llvm.br ^bb0\n^bb0:\n llvm.br ^bb1 }",
            None,
        ),
    ],
)
def test_errors(text: str, message: str | None):
    module = parse_llvm(text)
    if message is None:
        llvm.parse_assembly(llvm_ir(module)).verify()
        return
    with pytest.raises(LLVMTranslationException, match=message):
        llvm_ir(module)


def test_a_name_that_needs_quotes():
    module = parse_llvm('llvm.func @"two words"() { llvm.return }')
    assert llvm_ir(module).startswith('define void @"two words"()')
    assert normalized(llvm_ir(module)).keys() == {"two words"}


def test_use_before_definition_in_the_text():
    """Blocks may be in any order that dominance allows, so a use can come first."""
    module = parse_llvm("""
llvm.func @f(%a: i32) -> i32 {
  llvm.br ^define
^use:
  llvm.return %0 : i32
^define:
  %0 = llvm.add %a, %a : i32
  llvm.br ^use
}""")
    llvm.parse_assembly(llvm_ir(module)).verify()


@pytest.mark.parametrize(
    ("marker", "convention"), [("nvvm.kernel", "ptx_kernel"), ("rocdl.kernel", "amdgpu_kernel")]
)
def test_gpu_kernels(marker: str, convention: str):
    module = parse_llvm(f"llvm.func @f() attributes {{{marker}}} {{ llvm.return }}")
    assert llvm_ir(module).startswith(f"define {convention} void @f() {{")
