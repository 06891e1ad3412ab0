"""The table of names: distinct, identifiers, and none that a language or a library has."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opencl_device import DEVICE, needs_opencl

import tgdialect as tg
from tgdialect.lowering.render.names import LONGEST, OBJECT, SOURCE
from tgdialect.lowering.render.source.languages import C

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

TARGETS = ("cpu", "c", pytest.param(DEVICE, marks=needs_opencl))


def on_targets(*cases: object, device: int) -> list[object]:
    """Each case for the host's targets, and one of them for a device, which takes longer."""
    return [(target, case) for case in cases for target in ("cpu", "c")] + [
        pytest.param(DEVICE, cases[device], marks=needs_opencl)
    ]


KERNEL = """
tg.kernel @{name} {{
  {memory} = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %c = tg.const 4 : tensor<index>
  %r = tg.range 0 loop to %c : tensor<index>
  %v = tg.const {value} : tensor<f32>
  %p = tg.index {memory}[%r] : (tensor<4xf32, #tg.place<global>>, tensor<index>)
    -> tensor<f32, #tg.place<global>>
  %s = tg.store %p, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %d = tg.end %s over %r : !tg.void
  %e = tg.sink %d : !tg.void
}}
"""
MAIN = """
func.func @{entry}(%a: {T} {{tg.output}}, %b: {T} {{tg.output}}) {{
  %0 = tg.call @{first}(%a) : ({T}) -> !tg.void
  %1 = tg.call @{second}(%b) : ({T}) -> !tg.void
  %2 = tg.sink %0, %1 : !tg.void, !tg.void
  func.return
}}
"""


def check(target: str, first: str, second: str = '"k"', memory: str = "%o", entry: str = "main"):
    """Two kernels of these names, which store 1 and 2."""
    kernels = [
        KERNEL.format(name=name, memory=memory, value=value)
        for name, value in ((first, 1.0), (second, 2.0))
    ]
    type = 'tensor<4xf32, #tg.place<"CPU", global>>'
    main = MAIN.format(entry=entry, first=first, second=second, T=type)
    a, b = tg.compile("".join((*kernels, main)), entry=entry, target=target)()
    np.testing.assert_array_equal((a, b), [[1] * 4, [2] * 4])


# -- what was found from outside ---------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_the_name_of_a_kernel_is_no_code(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    check(target, r'"system(\22echo x > found\22); (void)sizeof"')
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("target", "value"), on_targets("INFINITY", "NAN", "UINT64_C", "memcpy", "float", device=0)
)
def test_a_value_has_the_name_of_a_macro(target: str, value: str):
    check(target, "kern", memory=f"%{value}")


@pytest.mark.parametrize(
    ("target", "symbols"),
    on_targets(
        ("kernel", "float", "double"),
        ("memset", "free", "malloc"),
        ("tg_parallel", "tg_threads", "tg_frame_entry"),
        ('"main.frame"', '"main.threads"', "main"),
        (r'"a\00b"', r'"a\00c"', "exp"),
        ('"llvm.memset.p0.i64"', '"llvm.trap"', "printf"),
        ('"a b"', "a_x20_b_", "_start"),
        device=0,
    ),
)
def test_symbols_that_mean_something(target: str, symbols: tuple[str, str, str]):
    first, second, entry = symbols
    check(target, first, second, entry=entry)


SCALED = """
func.func @{name}(%x: tensor<64xf32>) -> tensor<64xf32> {{
  %0 = tg.mul %x, %x : tensor<64xf32>
  func.return %0 : tensor<64xf32>
}}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_are_inspected_and_timed(target: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_BEAM_SECONDS", "0.01")
    name, opt = '"sin\\"', "none" if target == "c" else "beam:1"
    text = SCALED.format(name=r'"\22sin\5C\22"')
    executable = tg.compile(text, entry=name, target=target, opt=opt)
    x = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(executable(x), x * x)
    (kernel,) = executable.kernels
    assert kernel.name == f"{name}_0"
    assert "x22_sin_x5c__x22__0_" in kernel.source
    if target != "c":
        assert [each.name for each in executable.profile(x, seconds=0.01)] == [kernel.name]


# -- the table itself --------------------------------------------------------------------------


def test_names_of_symbols_are_distinct():
    """All texts of up to six of the letters that escapes are made of."""
    texts = ["".join(each) for size in range(7) for each in product("_x5h a", repeat=size)]
    for naming in (OBJECT, SOURCE):
        names = [naming.symbol(text) for text in texts]
        assert len(set(names)) == len(texts)
        assert all(map(IDENTIFIER.fullmatch, names))


@settings(max_examples=60)
@given(st.lists(st.text(max_size=24), unique=True, max_size=5))
@example(["k" * 200, "k" * 199 + "l", "k" * LONGEST, "k" * (LONGEST - 1)])
@example(["é", "é".encode().decode("latin-1"), "\0", "\0\0", ""])
def test_names_of_any_texts(texts: list[str]):
    for naming in (OBJECT, SOURCE):
        names = [naming.symbol(text) for text in texts]
        assert len(set(names)) == len(texts)
        for name in names:
            assert IDENTIFIER.fullmatch(name)
            assert len(name) <= LONGEST + 1
            assert not naming.is_taken(name)
            assert not name.startswith("tg_") or name.endswith("_")


@given(st.text(max_size=80))
def test_names_of_values(hint: str):
    name = SOURCE.value(hint)
    assert not name or re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII)


def test_plain_names_stay():
    for name in (
        "main_0",
        "main_0_prepack_1",
        "softmax",
        "E_4_4n1",
        "r_64_32",
        "gemm",
        "x",
        "k",
        "f0",
    ):
        assert OBJECT.symbol(name) == SOURCE.symbol(name) == name
    assert OBJECT.symbol("main") == "main"
    assert (OBJECT.symbol("w0"), SOURCE.symbol("w0")) == ("w0_", "w0")  # A register of ARM.
    assert SOURCE.symbol("main") == "main_"


def free(names: set[str]) -> list[str]:
    """Those of some names that a source may define."""
    found = {name for name in names if IDENTIFIER.fullmatch(name) and name[-1] != "_"}
    return sorted(name for name in found if not SOURCE.is_taken(name))


def header(*parts: str, package: str) -> str:
    """The text of an installed header, without comments."""
    spec = importlib.util.find_spec(package)
    places = [] if spec is None else [*(spec.submodule_search_locations or ())]
    for place in places:
        if (file := Path(place).joinpath(*parts)).exists():
            text = file.read_text(errors="replace")
            return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    pytest.skip(f"{package} is not installed")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize("standard", ["c11", "gnu17"])
def test_names_of_the_headers_of_c_are_taken(standard: str, tmp_path: Path):
    command = ["gcc", f"-std={standard}", "-x", "c", "-"]
    macros = subprocess.run(
        [*command, "-dM", "-E"], input=C.preamble, text=True, capture_output=True, check=True
    ).stdout
    assert not free(set(re.findall(r"#define (\w+)", macros)))
    file = tmp_path / "prototypes"
    more = "-aux-info", str(file), "-c", "-o", "/dev/null"
    subprocess.run([*command, *more], input=C.preamble, text=True, check=True)
    found = set(re.findall(r"(\w+) \(", re.sub(r"/\*.*?\*/", "", file.read_text())))
    assert {"sin", "memcpy"} <= found
    assert not free(found)


def test_names_of_opencl_c_are_taken():
    include = ".libs", "share", "pocl", "include"
    package = "pocl_binary_distribution"
    functions = header(*include, "opencl-c.h", package=package)
    found = set(re.findall(r"__ovld[\w \*]*?\b(\w+)\(", functions))
    assert {"fma", "get_global_id", "convert_int4_sat_rte"} <= found
    base = header(*include, "opencl-c-base.h", package=package)
    found |= set(re.findall(r"#\s*define\s+(\w+)", functions + base))
    found |= set(re.findall(r"typedef\s[^;{]*?\b(\w+)(?:\s*__attribute__\S*)?;", base))
    assert not free(found - {"error_undefined_type_double"})


def test_names_of_cuda_are_taken():
    found: set[str] = set()
    for name in ("math_functions.h", "device_functions.h", "device_double_functions.h"):
        text = header("cu13", "include", "crt", name, package="nvidia")
        found |= set(re.findall(r"^(?:extern|static)[^;{}()]*?\b(\w+)\s*\(", text, re.MULTILINE))
    assert {"rsqrtf", "sinf", "umin"} <= found
    text = header("cu13", "include", "vector_types.h", package="nvidia")
    found |= set(re.findall(r"(?:typedef|struct)\s[^;{]*?\b(\w+)\s*[;{]", text))
    assert "float4" in found
    assert not free(found)
