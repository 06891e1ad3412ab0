"""Loading object code: symbols, lifetimes, errors, and the conversions that come with it."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tgdialect.backends.llvm_cpu import HALF_CONVERSION_NAMES, CpuTarget
from tgdialect.runtime.jit import JitLibrary
from tgdialect.runtime.loader import load

HOST = CpuTarget.host()
HAS_ELF_LOADER = sys.platform == "linux" and HOST.triple.startswith("x86_64")

Loader = Callable[..., "JitLibrary"]
"""`ElfImage` has the same methods."""


@pytest.fixture(params=["load", "JitLibrary"])
def loader(request: pytest.FixtureRequest) -> Loader:
    return {"load": load, "JitLibrary": JitLibrary}[request.param]


def constant_function(value: int) -> bytes:
    return HOST.object_code(f"define i32 @f() {{ ret i32 {value} }}")


def call(code: JitLibrary, *arguments: int) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64 for _ in arguments])(
        code.address("f")
    )(*arguments)


def test_libraries_may_define_the_same_names(loader: Loader):
    codes = [loader(constant_function(value)) for value in range(5)]
    assert [call(code) for code in codes] == list(range(5))
    assert len({code.address("f") for code in codes}) == 5


def test_code_lives_as_long_as_its_object(loader: Loader):
    kept = loader(constant_function(7))
    address = kept.address("f")
    for value in range(8):
        code = loader(constant_function(value))
        assert call(code) == value
        del code
        gc.collect()
        assert kept.address("f") == address
        assert call(kept) == 7


def test_functions_of_other_objects(loader: Loader):
    """However far from each other they are in memory."""
    called = loader(constant_function(20))
    ir = "declare i32 @f()\ndefine i32 @g() { %a = call i32 @f() %b = add i32 %a, 2 ret i32 %b }"
    caller = loader(HOST.object_code(ir), {"f": called.address("f")})
    assert ctypes.CFUNCTYPE(ctypes.c_int32)(caller.address("g"))() == 22


def test_state_is_not_shared(loader: Loader):
    ir = """
@count = internal global i32 0
@start = global i32 40
define i32 @f() {
  %1 = load i32, ptr @count
  %2 = add i32 %1, 1
  store i32 %2, ptr @count
  %3 = load i32, ptr @start
  %4 = add i32 %2, %3
  ret i32 %4
}"""
    code = HOST.object_code(ir)
    first, second = loader(code), loader(code)
    assert [call(first), call(first), call(second)] == [41, 42, 41]


def test_constant_data_is_addressed(loader: Loader):
    ir = """
@table = internal constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
define i32 @f(i64 %0) {
  %2 = getelementptr i32, ptr @table, i64 %0
  %3 = load i32, ptr %2
  ret i32 %3
}"""
    code = loader(HOST.object_code(ir))
    assert [call(code, index) for index in range(4)] == [10, 20, 30, 40]


def test_addresses_in_data(loader: Loader):
    ir = """
@x = global i32 5
@y = internal global i32 6, align 64
@table = constant [3 x ptr] [ptr @y, ptr @x, ptr @g]
define i32 @g() { ret i32 7 }
define i32 @f(i64 %i) {
  %p = getelementptr ptr, ptr @table, i64 %i
  %q = load ptr, ptr %p
  %last = icmp eq i64 %i, 2
  br i1 %last, label %function, label %variable
function:
  %r = call i32 %q()
  ret i32 %r
variable:
  %v = load i32, ptr %q
  ret i32 %v
}"""
    code = loader(HOST.object_code(ir))
    assert [call(code, index) for index in range(3)] == [6, 5, 7]
    assert ctypes.c_int32.from_address(code.address("x")).value == 5


def test_jump_tables(loader: Loader):
    cases = " ".join(f"i64 {i}, label %c{i}" for i in range(20))
    blocks = "".join(
        f"c{i}:\n  store volatile i32 {i}, ptr %p\n  ret i32 {i * i % 7}\n" for i in range(20)
    )
    ir = f"""
define i32 @f(i64 %0) {{
  %p = alloca i32
  switch i64 %0, label %other [ {cases} ]
other:
  ret i32 -1
{blocks}}}"""
    code = loader(HOST.object_code(ir))
    assert [call(code, i) for i in range(21)] == [i * i % 7 for i in range(20)] + [-1]


def test_addresses_of_functions_of_the_process(loader: Loader):
    ir = """
declare i64 @strlen(ptr)
@text = constant [6 x i8] c"hello\\00"
define i32 @f(i64 %0) {
  %p = alloca ptr
  store volatile ptr @strlen, ptr %p
  %h = load volatile ptr, ptr %p
  %n = call i64 @strlen(ptr @text)
  %m = call i64 %h(ptr @text)
  %ten = mul i64 %m, 10
  %sum = add i64 %n, %ten
  %r = trunc i64 %sum to i32
  ret i32 %r
}"""
    assert call(loader(HOST.object_code(ir)), 0) == 55


def test_symbols_of_the_process(loader: Loader):
    ir = """
define void @f(ptr %0, ptr %1, i64 %2) {
  call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr %1, i64 %2, i1 false)
  ret void
}
define double @g(double %0, double %1) {
  %3 = frem double %0, %1
  ret double %3
}"""
    code = loader(HOST.object_code(ir))
    source, target = ctypes.create_string_buffer(b"x" * 5000), ctypes.create_string_buffer(5001)
    copy = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    copy(code.address("f"))(ctypes.addressof(target), ctypes.addressof(source), 5000)
    assert target.value == source.value
    remainder = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
    assert remainder(code.address("g"))(-7.5, 2.0) == -1.5


def test_errors(loader: Loader):
    with pytest.raises(OSError, match="cannot load object code"):
        loader(b"not object code")
    with pytest.raises(OSError, match="cannot load object code"):
        loader(b"")
    with pytest.raises(OSError, match="cannot load 'g'"):
        loader(constant_function(1)).address("g")


def test_a_symbol_that_the_process_lacks(loader: Loader):
    ir = "declare i32 @nowhere()\ndefine i32 @f() { %1 = call i32 @nowhere()\n ret i32 %1 }"
    with pytest.raises(OSError, match="cannot load"):
        loader(HOST.object_code(ir)).address("f")


@pytest.mark.skipif(not HAS_ELF_LOADER, reason="object code of x86-64 Linux")
class TestElf:
    TABLES = """
@x = global i32 5
@table = constant [2 x ptr] [ptr @x, ptr @f]
@c = private constant <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>
declare i64 @strlen(ptr)
define i32 @f(i64 %0) {
  %v = load volatile <4 x float>, ptr @c
  %n = call i64 @strlen(ptr @table)
  %r = trunc i64 %n to i32
  ret i32 %r
}"""

    def test_loads_our_code_without_llvm(self):
        from tgdialect.runtime.elf import ElfImage

        code = HOST.object_code(self.TABLES)
        assert isinstance(load(code), ElfImage)
        script = "import sys; from tgdialect.runtime.loader import load\n"
        script += "load(sys.stdin.buffer.read()).address('f')\n"
        script += "print([m for m in sys.modules if m.startswith(('llvmlite', 'xdsl'))])"
        run = subprocess.run(
            [sys.executable, "-c", script], input=code, capture_output=True, check=True
        )
        assert run.stdout.decode().strip() == "[]"

    def test_code_is_not_writable_and_data_not_executable(self):
        code = load(HOST.object_code(self.TABLES))
        with open("/proc/self/maps") as file:
            regions = [line.split()[:2] for line in file]

        def access(address: int) -> str:
            for span, modes in regions:
                low, high = (int(bound, 16) for bound in span.split("-"))
                if low <= address < high:
                    return modes[:3]
            raise AssertionError

        assert access(code.address("f")) == "r-x"
        assert access(code.address("x")) == "rw-"

    def test_what_needs_a_whole_linker_goes_to_llvm(self):
        from tgdialect.runtime.elf import ElfImage, UnsupportedError

        for ir in (
            "@x = common global i32 0\ndefine ptr @f() { ret ptr @x }",
            "@x = global i32 0, align 65536\ndefine ptr @f() { ret ptr @x }",
        ):
            code = HOST.object_code(ir)
            with pytest.raises(UnsupportedError):
                ElfImage(code)
            assert isinstance(load(code), JitLibrary)
        with pytest.raises(UnsupportedError, match="not an ELF file of x86-64"):
            ElfImage(
                CpuTarget("aarch64-unknown-linux-gnu").object_code("define void @f() { ret void }")
            )

    def test_damaged_code_is_one_error(self):
        from tgdialect.runtime.elf import ElfImage, UnsupportedError

        code = HOST.object_code(self.TABLES)
        random = np.random.default_rng(0)
        damaged = [code[:length] for length in range(0, len(code), 7)]
        for _ in range(2000):
            data = bytearray(code)
            for position in random.integers(0, len(code), random.integers(1, 4)):
                data[position] = random.integers(256)
            damaged.append(bytes(data))
        failures = 0
        for data in damaged:
            try:
                ElfImage(data)  # Not called: the code itself may be what is damaged.
            except (OSError, UnsupportedError):
                failures += 1
        assert failures > 500


# ---- Conversions -----------------------------------------------------------------------------

SPELLING = {
    np.float16: "half",
    ml_dtypes.bfloat16: "bfloat",
    np.float32: "float",
    np.float64: "double",
}
GENERIC = CpuTarget("x86_64-unknown-linux-gnu", "x86-64")


def convert(values: np.ndarray, dtype: type) -> np.ndarray:
    """By code for a CPU that has no instruction for it."""
    source, target = SPELLING[values.dtype.type], SPELLING[dtype]
    kind = "fptrunc" if values.dtype.itemsize > np.dtype(dtype).itemsize else "fpext"
    ir = f"""
define void @f(ptr %from, ptr %to, i64 %count) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr {source}, ptr %from, i64 %i
  %q = getelementptr {target}, ptr %to, i64 %i
  %x = load {source}, ptr %p
  %y = {kind} {source} %x to {target}
  store {target} %y, ptr %q
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}"""
    object_code = GENERIC.object_code(ir)
    assert any(name.encode() in object_code for name in HALF_CONVERSION_NAMES)
    code = load(object_code)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    result = np.empty(values.shape, dtype)
    run(code.address("f"))(values.ctypes.data, result.ctypes.data, values.size)
    return result


def f32_near_ties() -> np.ndarray:
    """Values of f32 at, and one place beside, every value of f16 and bf16 and every tie."""
    words = np.arange(2**16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        halves = words.view(np.float16).astype(np.float32).view(np.uint32).astype(np.int64)
    brains = words.astype(np.int64) << 16
    ties = [halves, halves + 0x1000, brains, brains + 0x8000]
    bits = np.concatenate([tie + offset for tie in ties for offset in (-1, 0, 1)])
    return (bits & 0xFFFFFFFF).astype(np.uint32).view(np.float32)


def assert_same(computed: np.ndarray, expected: np.ndarray) -> None:
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(computed), nan)
    words = f"u{expected.dtype.itemsize}"
    np.testing.assert_array_equal(computed.view(words)[~nan], expected.view(words)[~nan])


@pytest.mark.skipif(not HOST.triple.startswith("x86_64"), reason="runs code for any x86-64")
class TestHalfConversions:
    def test_f16_to_f32(self):
        halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
        with np.errstate(invalid="ignore"):
            assert_same(convert(halves, np.float32), halves.astype(np.float32))

    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
    def test_f32_to_half(self, dtype: type):
        values = f32_near_ties()
        with np.errstate(over="ignore", invalid="ignore"):
            assert_same(convert(values, dtype), values.astype(dtype))

    def test_f64_to_f16(self):
        with np.errstate(over="ignore", invalid="ignore"):
            near = f32_near_ties().astype(np.float64)
            values = np.concatenate([np.nextafter(near, -np.inf), near, np.nextafter(near, np.inf)])
            assert_same(convert(values, np.float16), values.astype(np.float16))

    @pytest.mark.parametrize("word", [0x3F80, 0x3F81, 0x0000, 0x0001, 0x007F, 0x7F7E, 0x7F7F])
    def test_f64_to_bf16(self, word: int):
        """Beside a tie, by less than f32 can tell: rounding twice would go wrong."""
        below = float(np.array(word, np.uint16).view(ml_dtypes.bfloat16))
        beyond = float(np.array(word + 1, np.uint16).view(ml_dtypes.bfloat16))
        above = 2.0**128 if word == 0x7F7F else beyond
        tie = (below + above) / 2
        values = np.array([np.nextafter(tie, 0), tie, np.nextafter(tie, np.inf)])
        expected = np.array([word, word + (word & 1), word + 1], np.uint16)
        for sign, sign_bit in ((1, 0), (-1, 0x8000)):
            computed = convert(sign * values, ml_dtypes.bfloat16).view(np.uint16)
            assert computed.tolist() == (expected | sign_bit).tolist()
