"""Executables as their users call them: signatures, memory, buffers, threads, errors."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from opencl_device import needs_opencl

import tgdialect as tg
from tgdialect.runtime import compiler, launcher
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.host_executable import HostExecutable

MEMORY = 'tensor<4xf32, #tg.place<"CPU", global>>'

ADD = """
func.func @main(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = tg.add %a, %b : tensor<3x4xf32>
  func.return %0 : tensor<3x4xf32>
}
"""
TWO_RESULTS = """
func.func @main(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = tg.neg %a : tensor<4xi32>
  %1 = tg.add %a, %a : tensor<4xi32>
  func.return %0, %1 : tensor<4xi32>, tensor<4xi32>
}
"""
ACCUMULATE = f"""
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">> {{
  %state = tg.buffer 0 : {MEMORY}
  %next = tg.add %state, %x : ({MEMORY}, tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">>
  %s = tg.store %state, %next : {MEMORY}, tensor<4xf32, #tg.place<"CPU">>
  %new = tg.after %state, %s : ({MEMORY}, !tg.void) -> {MEMORY}
  %r = tg.neg %new : {MEMORY} -> tensor<4xf32, #tg.place<"CPU">>
  func.return %r : tensor<4xf32, #tg.place<"CPU">>
}}
"""
IN_PLACE = f"""
func.func @main(%x: {MEMORY}) {{
  %f = tg.flip %x [true] : {MEMORY}
  %s = tg.store %x, %f : {MEMORY}, {MEMORY}
  func.return
}}
"""
DYNAMIC = """
func.func @main() -> tensor<?xf32> {
  %n = tg.param 0 "n" min 1 max 8 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?xf32>
  %s = tg.reduce add %x [0] : tensor<?xf32> -> tensor<1xf32>
  %b = tg.expand %s [%n] : tensor<1xf32> -> tensor<?xf32>
  %y = tg.div %x, %b : tensor<?xf32>
  func.return %y : tensor<?xf32>
}
"""
SOFTMAX = """
func.func @main(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %m = tg.reduce max %x [1] : tensor<64x32xf32> -> tensor<64x1xf32>
  %d = tg.sub %x, %m : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
  %e = tg.exp2 %d : tensor<64x32xf32>
  %s = tg.reduce add %e [1] : tensor<64x32xf32> -> tensor<64x1xf32>
  %r = tg.div %e, %s : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
  func.return %r : tensor<64x32xf32>
}
"""

LINEAR = """
func.func @main(%x: tensor<8x40xf32>, %w: tensor<96x40xf32> {tg.constant}) -> tensor<8x96xf32> {
  %a = tg.reshape %x [8, 1, 40] : tensor<8x40xf32> -> tensor<8x1x40xf32>
  %b = tg.reshape %w [1, 96, 40] : tensor<96x40xf32> -> tensor<1x96x40xf32>
  %p = tg.mul %a, %b : (tensor<8x1x40xf32>, tensor<1x96x40xf32>) -> tensor<8x96x40xf32>
  %s = tg.reduce add %p [2] : tensor<8x96x40xf32> -> tensor<8x96x1xf32>
  %r = tg.reshape %s [8, 96] : tensor<8x96x1xf32> -> tensor<8x96xf32>
  func.return %r : tensor<8x96xf32>
}
"""


@pytest.fixture(autouse=True, params=["launcher", "ctypes"])
def how_it_is_called(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test runs with the launcher from the first call on, and where there is none."""
    if request.param == "launcher":
        monkeypatch.setattr(HostExecutable, "_wait", HostExecutable._first_launch)
    else:
        monkeypatch.setattr(launcher, "_code", lambda _: None)
    return request.param


def arrays(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal((2, 3, 4)).astype(np.float32))


def test_results_and_signature():
    a, b = arrays()
    exe = tg.compile(ADD)
    assert [str(p) for p in exe.inputs] == ["a: 3x4 float32", "b: 3x4 float32"]
    assert [p.shape for p in exe.outputs] == [(3, 4)]
    np.testing.assert_array_equal(exe(a, b), a + b)
    first, second = tg.compile(TWO_RESULTS)(np.arange(4, dtype=np.int32))
    np.testing.assert_array_equal(first, [0, -1, -2, -3])
    np.testing.assert_array_equal(second, [0, 2, 4, 6])


def test_the_interpreter_takes_no_schedule() -> None:
    with pytest.raises(ValueError, match="the interpreter takes none"):
        tg.compile(ADD, target="interpreter", opt="beam:2")


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_inputs_of_any_layout_are_left_alone(target: str):
    a, b = arrays()
    strided = np.asfortranarray(a)[::1]
    reverse = b[::-1, ::-1]
    strided.flags.writeable = reverse.flags.writeable = False
    np.testing.assert_array_equal(tg.compile(ADD, target=target)(strided, reverse), a + reverse)


def test_out_is_written_and_may_overlap_an_input():
    a, b = arrays()
    exe = tg.compile(ADD)
    out = np.empty_like(a)
    assert exe(a, b, out=out) is out
    np.testing.assert_array_equal(out, a + b)
    expected = a + a[::-1]
    assert exe(a, a[::-1], out=a) is a
    np.testing.assert_array_equal(a, expected)
    strided = np.zeros((3, 8), np.float32)[:, ::2]
    np.testing.assert_array_equal(exe(b, b, out=strided), b + b)


def test_buffers_keep_their_state():
    exe = tg.compile(ACCUMULATE)
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(exe(x), -x)
    np.testing.assert_array_equal(exe(x), -2 * x)
    (state,) = exe.buffers.values()
    np.testing.assert_array_equal(state, 2 * x)


def test_what_constants_decide_is_computed_once():
    exe = tg.compile(LINEAR)
    with pytest.raises(ValueError, match="expected 2 inputs"):
        exe(np.zeros((8, 40), np.float32))
    rng = np.random.default_rng(0)
    x, y = rng.integers(-4, 4, (2, 8, 40)).astype(np.float32)
    weights = [rng.integers(-4, 4, (96, 40)).astype(np.float32) for _ in range(2)]
    for w in (weights[0], *weights, weights[0]):
        np.testing.assert_array_equal(exe(x, w), x @ w.T)
        np.testing.assert_array_equal(exe(y, w), y @ w.T)
    out = np.empty((8, 96), np.float32)
    np.testing.assert_array_equal(exe(x, np.asfortranarray(weights[1]), out=out), x @ weights[1].T)
    w = weights[0].copy()
    expected = exe(x, w)
    w[:] = 0  # Nobody looks at it again.
    np.testing.assert_array_equal(exe(x, w), expected)
    np.testing.assert_array_equal(exe(x, w.copy()), 0 * expected)


def test_constants_are_those_of_each_thread():
    exe = tg.compile(LINEAR)
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 4, (8, 40)).astype(np.float32)
    weights = [rng.integers(-4, 4, (96, 40)).astype(np.float32) for _ in range(4)]

    def run(i: int) -> bool:
        return bool((exe(x, weights[i % 4]) == x @ weights[i % 4].T).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(400)))


@pytest.mark.parametrize("is_param", [False, True])
def test_memory_is_passed_by_reference(is_param: bool):
    param = f"@main() {{ %x = tg.param 0 : {MEMORY}"
    source = IN_PLACE.replace(f"@main(%x: {MEMORY}) {{", param) if is_param else IN_PLACE
    x = np.arange(4, dtype=np.float32)
    assert tg.compile(source)(x) == ()
    np.testing.assert_array_equal(x, [3, 2, 1, 0])
    with pytest.raises(ValueError, match="contiguous"):
        tg.compile(source)(np.zeros(8, np.float32)[::2])


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_dynamic_shapes(target: str):
    exe = tg.compile(DYNAMIC, target=target)
    for n in (1, 3, 8):
        x = np.arange(1, n + 1, dtype=np.float32)
        np.testing.assert_allclose(exe(n, x), x / x.sum(), rtol=1e-6)
        np.testing.assert_allclose(exe(np.array(n), x), x / x.sum(), rtol=1e-6)


def test_calls_on_several_threads_do_not_share_scratch_memory():
    exe = tg.compile(SOFTMAX)
    inputs = [np.random.default_rng(i).normal(size=(64, 32)).astype(np.float32) for i in range(32)]
    alone = [exe(x) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        for expected, actual in zip(alone, pool.map(exe, inputs * 4), strict=False):
            np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("source", "call", "error", "message"),
    [
        (ADD, lambda exe, a, b: exe(a), ValueError, "expected 2 inputs"),
        (ADD, lambda exe, a, b: exe(a, b.astype(np.float64)), TypeError, "b is float32"),
        (ADD, lambda exe, a, b: exe(a, b[:2]), ValueError, "shape"),
        (ADD, lambda exe, a, b: exe(a, b.T), ValueError, "shape"),
        (ADD, lambda exe, a, b: exe(a, b.ravel()), ValueError, "shape"),
        (ADD, lambda exe, a, b: exe(a, b.ctypes.data), TypeError, "b is float32"),
        (ADD, lambda exe, a, b: exe(a, None), TypeError, "b is float32"),
        (SOFTMAX, lambda exe, a, b: exe(a, 4096), ValueError, "expected 1 inputs"),
        (ADD, lambda exe, a, b: exe(a, b, out=a[:2]), ValueError, "shape"),
        (ADD, lambda exe, a, b: exe(a, b, out=a.astype(int)), TypeError, "out"),
        (ADD, lambda exe, a, b: exe(a, b, out=[a, b]), ValueError, "2 arrays for 1"),
        (DYNAMIC, lambda exe, a, b: exe(9, a[0]), ValueError, "outside"),
        (DYNAMIC, lambda exe, a, b: exe(3, a[0]), ValueError, "shape"),
        (DYNAMIC, lambda exe, a, b: exe(4.0, a[0]), TypeError, "integer"),
    ],
)
def test_arguments_that_do_not_fit(source: str, call, error: type[Exception], message: str):
    a, b = arrays()
    with pytest.raises(error, match=message):
        call(tg.compile(source), a, b)


def test_launchers_take_over(how_it_is_called: str, monkeypatch: pytest.MonkeyPatch):
    """Arrays that fit are not looked at by Python, and those that do not are."""
    a, b = arrays()
    exe, softmax = tg.compile(ADD), tg.compile(SOFTMAX)
    x = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
    expected = exe(a, b), softmax(x)
    looked: list[object] = []
    call = HostExecutable._call
    monkeypatch.setattr(HostExecutable, "_call", lambda *of: looked.append(of[0]) or call(*of))
    for _ in range(3):
        np.testing.assert_array_equal(exe(a, b), expected[0])
        np.testing.assert_array_equal(exe(a, b, out=np.empty_like(a)), expected[0])
        np.testing.assert_array_equal(softmax(x), expected[1])
    assert len(looked) == (0 if how_it_is_called == "launcher" else 9)
    np.testing.assert_array_equal(exe(a, np.asfortranarray(b)), expected[0])
    np.testing.assert_array_equal(exe(a, b.astype(">f4").astype("<f4")), expected[0])


def test_functions_of_many_arguments():
    """One beyond those that a launcher takes, and one of more axes."""
    names = [f"%a{i}" for i in range(launcher.MAX_SLOTS)]
    body = [
        f"%s{i} = tg.add {a}, {b} : tensor<2xi32>"
        for i, (a, b) in enumerate(
            zip([names[0], *[f"%s{i}" for i in range(len(names) - 2)]], names[1:], strict=True)
        )
    ]
    arguments = ", ".join(f"{name}: tensor<2xi32>" for name in names)
    text = f"func.func @main({arguments}) -> tensor<2xi32> {{\n" + "\n".join(body)
    exe = tg.compile(f"{text}\nfunc.return %s{len(names) - 2} : tensor<2xi32>\n}}")
    many = [np.array([i, -i], np.int32) for i in range(len(names))]
    np.testing.assert_array_equal(exe(*many), sum(many))
    shape = (1, 2) * 5
    axes = "x".join(map(str, shape))
    negate = ADD.replace("3x4", axes)
    x = np.arange(32, dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(tg.compile(negate)(x, x), x + x)


def test_read_only_out():
    a, b = arrays()
    out = np.empty_like(a)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tg.compile(ADD)(a, b, out=out)


def test_what_shares_memory_with_what_is_written_is_read_before():
    """Of a size whose last vector begins in the one before."""
    memory = 'tensor<1001xf32, #tg.place<"CPU", global>>'
    source = f"""
    func.func @main(%x: {memory}, %a: tensor<1001xf32>, %b: tensor<1001xf32>) {{
      %0 = tg.mul %a, %b : tensor<1001xf32>
      %1 = tg.add %0, %a : tensor<1001xf32>
      %2 = tg.store %x, %1 : {memory}, tensor<1001xf32>
      func.return
    }}
    """
    exe = tg.compile(source)
    for _ in range(3):
        x, b = np.arange(1001, dtype=np.float32), np.ones(1001, np.float32)
        assert exe(x, x, b) == ()
        np.testing.assert_array_equal(x, np.arange(1001) * 2)
        assert exe(x, b, b) == ()
        np.testing.assert_array_equal(x, np.full(1001, 2))
        whole = np.arange(1010, dtype=np.float32)
        assert exe(whole[:1001], whole[9:], b) == ()
        np.testing.assert_array_equal(whole[:1001], np.arange(9, 1010) * 2)


def test_a_buffer_that_is_passed_is_read_before():
    source = """
    func.func @main(%x: tensor<1001xf32>) {
      %state = tg.buffer 0 : tensor<1001xf32, #tg.place<"CPU", global>>
      %next = tg.add %x, %x : tensor<1001xf32>
      %s = tg.store %state, %next : tensor<1001xf32, #tg.place<"CPU", global>>, tensor<1001xf32>
      func.return
    }
    """
    exe = tg.compile(source)
    exe(np.arange(1001, dtype=np.float32))
    (state,) = exe.buffers.values()
    for factor in (4, 8):
        exe(state)
        np.testing.assert_array_equal(state, np.arange(1001) * factor)


FUNCTION_CODE = {
    "custom": '%1 = tg.custom "f({0})"(%a) : tensor<4xi32>',
    "custom without a result": '%1 = tg.custom "f({0})"(%a) : (tensor<4xi32>) -> !tg.void',
    "ins of a table": '%1 = tg.ins "cpu.popcnt"(%a) : tensor<4xi32>',
    "ins of an unknown target": '%1 = tg.ins "dsp.mac"(%a) : tensor<4xi32>',
}


@pytest.mark.parametrize("functions", [None, ["f"], ["f", "dsp.mac", "cpu.popcnt"]], ids=str)
@pytest.mark.parametrize("code", FUNCTION_CODE)
def test_code_in_a_function_is_one_error_on_all_targets(code: str, functions: list[str] | None):
    source = f"""
    func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {{
      {FUNCTION_CODE[code]}
      func.return %a : tensor<4xi32>
    }}
    """
    how = {"allow_custom": functions is not None, "custom": dict.fromkeys(functions or (), np.abs)}
    errors: set[str] = set()
    for target in ("cpu", "c", "interpreter"):
        with pytest.raises(tg.CompilationError) as caught:
            tg.compile(source, target=target, **how)
        errors.add(str(caught.value))
    (error,) = errors
    name = f"tg.{code[:6].split()[0]}"
    assert error.startswith(
        f"<string>:3:12: error: {name} is not part of func.func at level tensor; it belongs in a "
        "tg.kernel"
    )


@pytest.mark.parametrize(
    "target", ["cpu", "c", pytest.param("opencl", marks=needs_opencl), "interpreter"]
)
def test_binary_in_no_program_is_data(target: str):
    source = """
    func.func @main(%x: tensor<4xui8>) -> (tensor<4xui8>, tensor<2xui8>, tensor<1xui8>) {
      %b = tg.binary "7f454cf6" : tensor<4xui8>
      %sum = tg.add %b, %x : tensor<4xui8>
      %part = tg.shrink %b at [1] to [2] : tensor<4xui8> -> tensor<2xui8>
      %max = tg.reduce max %b [0] : tensor<4xui8> -> tensor<1xui8>
      return %sum, %part, %max : tensor<4xui8>, tensor<2xui8>, tensor<1xui8>
    }
    """
    x = np.array([1, 2, 3, 250], np.uint8)
    data = np.frombuffer(b"\x7fEL\xf6", np.uint8)
    results = tg.compile(source, target=target)(x)
    for result, expected in zip(results, (data + x, data[1:3], [data.max()]), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_errors_have_a_place(tmp_path):
    path = tmp_path / "wrong.mlir"
    path.write_text(ADD.replace("tg.add %a, %b : tensor<3x4xf32>", "tg.sqrt %a : tensor<3xf32>"))
    with pytest.raises(tg.CompilationError, match=r"wrong\.mlir:3:\d+: error"):
        tg.compile(path)
    with pytest.raises(tg.CompilationError, match="no function @other"):
        tg.compile(ADD, entry="other")
    with pytest.raises(tg.CompilationError, match="cannot open"):
        tg.compile(tmp_path / "nothing.mlir")
    with pytest.raises(ValueError, match="there is no target 'gpu'"):
        tg.compile(ADD, target="gpu")


def test_the_module_of_the_caller_is_left_as_it_is():
    module = load_module(ADD)
    before = str(module)
    tg.compile(module)
    assert str(module) == before


@pytest.mark.parametrize("offset", [0, 4, 16, 32, 60])
def test_results_that_no_cache_holds(offset: int) -> None:
    """They are stored around the caches where they are aligned, and right wherever they are."""
    program = """
    module attributes {tg.target = #tg.target<"cpu", features = ["avx512f"], llc = 1000>} {
      func.func @main(%x: tensor<33x128xf32>) -> tensor<33x128xf32> {
        %y = tg.add %x, %x : tensor<33x128xf32>
        func.return %y : tensor<33x128xf32>
      }
    }
    """
    executable = tg.compile(program)
    assert "nontemporal" in executable.kernels[0].source
    x = np.random.default_rng(0).standard_normal((33, 128)).astype(np.float32)
    memory = np.full(33 * 128 + 64, -7, np.float32)
    start = (-memory.ctypes.data % 64 + offset) // 4
    out = memory[start : start + 33 * 128].reshape(33, 128)
    executable(x, out=out)
    np.testing.assert_array_equal(out, 2 * x)
    assert (memory[:start] == -7).all()
    assert (memory[start + 33 * 128 :] == -7).all()


def test_results_that_the_rest_of_a_program_evicts() -> None:
    """They are stored around the caches, as larger ones are; what is accessed again is not."""
    w, x, row, one = (f"tensor<{n}xf32>" for n in ("33x128", "33x4096", "33x1", "1x1"))
    target = '#tg.target<"cpu", features = ["avx512f"], llc = 20000, l2 = 4096>'
    program = f"""
    module attributes {{tg.target = {target}}} {{
      func.func @main(%w: {w}, %x: {x}) -> ({row}, {row}, {one}, {w}) {{
        %r = tg.reduce add %w [1] : {w} -> {row}
        %y = tg.mul %x, %r : ({x}, {row}) -> {x}
        %z = tg.reduce max %y [1] : {x} -> {row}
        %q = tg.reduce add %z [0] : {row} -> {one}
        %u = tg.mul %w, %w : {w}
        func.return %r, %z, %q, %u : {row}, {row}, {one}, {w}
      }}
    }}
    """
    executable = tg.compile(program)
    (written,) = (kernel.source for kernel in executable.kernels if "nontemporal" in kernel.source)
    assert "fmul" in written
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((33, 128)).astype(np.float32)
    factors = rng.standard_normal((33, 4096)).astype(np.float32)
    _, z, _, u = executable(weights, factors)
    np.testing.assert_array_equal(u, weights * weights)
    sums = weights.sum(1, keepdims=True, dtype=np.float64)
    np.testing.assert_allclose(z, (factors * sums).max(1, keepdims=True), rtol=1e-4)


MUCH = (
    *((1 << 18,), (3, 1 << 17), (512, 511), (1 << 20, 1), (7, 1, 65536)),
    *((131101,), (131101, 1), (3, 65537), (1009, 131), (131, 1009)),
)


@pytest.mark.sampled(14)
@pytest.mark.parametrize("shape", MUCH)
@pytest.mark.parametrize("kind", ["add", "max"])
@pytest.mark.parametrize("dtype", ["f32", "i32", "f16"])
def test_reductions_of_much_to_little(shape: tuple[int, ...], kind: str, dtype: str) -> None:
    """In parts that threads share, with what those leave, or as they are."""
    extents, ones = ("x".join(map(str, s)) for s in (shape, [1] * len(shape)))
    source, result = f"tensor<{extents}x{dtype}>", f"tensor<{ones}x{dtype}>"
    program = f"""
    func.func @main(%x: {source}) -> {result} {{
      %y = tg.reduce {kind} %x {list(range(len(shape)))} : {source} -> {result}
      func.return %y : {result}
    }}
    """
    numbers = np.random.default_rng(0).integers(-3, 4, shape)
    x = numbers.astype({"f32": np.float32, "i32": np.int32, "f16": np.float16}[dtype])
    expected = numbers.sum() if kind == "add" else numbers.max()
    assert tg.compile(program)(x).item() == x.dtype.type(expected)


VIEW, CELL = "tensor<4xf32, #tg.place<global>>", "tensor<f32, #tg.place<global>>"
ONE_CELL = f"""
tg.kernel @k {{
  %o = tg.param 0 : {VIEW}
  %x = tg.param 1 : {VIEW}
  %i = tg.const 2 : tensor<index>
  %from = tg.index %x[%i] : ({VIEW}, tensor<index>) -> {CELL}
  %v = tg.load %from : {CELL} -> tensor<f32>
  %to = tg.index %o[%i] : ({VIEW}, tensor<index>) -> {CELL}
  %s = tg.store %to, %v : {CELL}, tensor<f32>
  %k = tg.sink %s : !tg.void
}}
func.func @main(%x: {MEMORY}, %o: {MEMORY} {{tg.output}}) {{
  %c = tg.call @k(%o, %x) : ({MEMORY}, {MEMORY}) -> !tg.void
  %k = tg.sink %c : !tg.void
  func.return
}}
"""


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
def test_cells_of_a_result_that_nothing_stores_are_zero(target: str):
    run = tg.compile(ONE_CELL, target=target)
    for _ in range(3):
        np.full(4, 9.0, np.float32)  # Memory that the next result may have again.
        np.testing.assert_array_equal(run(np.full(4, 3.0, np.float32)), [0, 0, 3, 0])
    if target == "cpu":
        out = np.full(4, 7.0, np.float32)
        run(np.full(4, 3.0, np.float32), out=out)
        np.testing.assert_array_equal(out, [0, 0, 3, 0])


def test_an_executable_keeps_no_module():
    """It is inspected by its text: the module, and what it has become, may be large."""
    module = load_module(ADD)
    kept = weakref.ref(module)
    executable = compiler.compile(module, is_verified=True)
    assert isinstance(executable, HostExecutable)
    del module
    gc.collect()
    assert kept() is None
    assert executable.module("rangeify") is not None
