"""Source, movement, reduce, call, marker and multi-device ops of a host program."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from xdsl.utils.exceptions import InterpretationError

G = '#tg.place<"CPU", global>'
NAN = float("nan")


def body(*lines, arguments="%x: tensor<2x3xf32>", result="%r", type="tensor<2x3xf32>"):
    """A function of those lines."""
    return f"""
    func.func @main({arguments}) -> {type} {{
      {chr(10).join(lines)}
      return {result} : {type}
    }}"""


X = np.arange(6, dtype="f4").reshape(2, 3)


@pytest.mark.parametrize(
    ("op", "type", "expected"),
    [
        ("permute %x [1, 0]", "3x2", X.T),
        ("flip %x [true, false]", "2x3", X[::-1]),
        ("reshape %x [3, 2]", "3x2", X.reshape(3, 2)),
        ("shrink %x at [0, 1] to [2, 2]", "2x2", X[:, 1:]),
        (
            "pad %x at [1, 0] to [4, 3] fill 7.0 : f32",
            "4x3",
            np.pad(X, ((1, 1), (0, 0)), constant_values=7),
        ),
        ("pad %x at [0, 2] to [2, 6]", "2x6", np.pad(X, ((0, 0), (2, 1)))),
        ("reduce add %x [1]", "2x1", X.sum(1, keepdims=True)),
        ("reduce add %x [0, 1]", "1x1", X.sum(keepdims=True)),
        ("reduce add %x [1, 0] ordered", "1x1", X.sum(keepdims=True)),
        ("reduce mul %x [0]", "1x3", X.prod(0, keepdims=True)),
        ("reduce max %x [1]", "2x1", X.max(1, keepdims=True)),
        ("contiguous_backward %x", "2x3", X),
        ("detach %x", "2x3", X),
        ("contiguous %x", "2x3", X),
        ("load %x", "2x3", X),
    ],
)
def test_one_operand(execute, op, type, expected):
    line = f"%r = tg.{op} : tensor<2x3xf32> -> tensor<{type}xf32>"
    (r,) = execute(body(line, type=f"tensor<{type}xf32>"), X)
    assert r.dtype == np.float32
    assert r.tolist() == expected.tolist()


def test_expand_and_stack(execute):
    (r,) = execute(
        body(
            "%0 = tg.reshape %x [2, 3, 1] : tensor<2x3xf32> -> tensor<2x3x1xf32>",
            "%1 = tg.expand %0 [2, 3, 2] : tensor<2x3x1xf32> -> tensor<2x3x2xf32>",
            "%r = tg.stack %1, %1 : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x2x3x2xf32>",
            type="tensor<2x2x3x2xf32>",
        ),
        X,
    )
    assert r.tolist() == np.broadcast_to(X[None, :, :, None], (2, 2, 3, 2)).tolist()


def test_binary_data(execute):
    text = body('%r = tg.binary "7f00ff" : tensor<3xui8>', type="tensor<3xui8>")
    assert execute(text, X)[0].tolist() == [127, 0, 255]


# -- INDEX -------------------------------------------------------------------------------------


def test_index_with_vectors_is_an_outer_product(execute):
    (r,) = execute(
        body(
            "%r = tg.index %x[%i, %j]"
            " : (tensor<2x3xf32>, tensor<3xi32>, tensor<2xindex>) -> tensor<3x2xf32>",
            arguments="%x: tensor<2x3xf32>, %i: tensor<3xi32>, %j: tensor<2xindex>",
            type="tensor<3x2xf32>",
        ),
        X,
        np.array([1, 0, 1], "i4"),
        np.array([2, 0]),
    )
    assert r.tolist() == X[np.ix_([1, 0, 1], [2, 0])].tolist()


def test_index_scalar_then_vector_then_rest(execute):
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    (r,) = execute(
        body(
            "%r = tg.index %x[%i, %j]"
            " : (tensor<2x3x4xf32>, tensor<index>, tensor<2xindex>) -> tensor<2x4xf32>",
            arguments="%x: tensor<2x3x4xf32>, %i: tensor<index>, %j: tensor<2xindex>",
            type="tensor<2x4xf32>",
        ),
        x,
        1,
        np.array([2, 0]),
    )
    assert r.tolist() == x[1][[2, 0]].tolist()


def test_index_out_of_bounds_reads_a_valid_zero(execute):
    """Also negative ones; a reduction counts the cell, as max of 0 and -1 shows."""
    text = body(
        "%v = tg.index %x[%i] : (tensor<2xf32>, tensor<3xindex>) -> tensor<3xf32>",
        "%r = tg.reduce max %v [0] : tensor<3xf32> -> tensor<1xf32>",
        arguments="%x: tensor<2xf32>, %i: tensor<3xindex>",
        type="tensor<1xf32>",
    )
    x = np.array([-1, -2], "f4")
    assert execute(text, x, np.array([0, 1, 1]))[0].tolist() == [-1]
    assert execute(text, x, np.array([0, 1, 2]))[0].tolist() == [0]
    assert execute(text, x, np.array([0, -1, 1]))[0].tolist() == [0]


# -- invalid cells -------------------------------------------------------------------------------

PADDED = "%p = tg.pad %x at [1] to [4] : tensor<2xf32> -> tensor<4xf32>"
ONE = "%one = tg.const 1.0 : tensor<f32>"
V = np.array([-3, -5], "f4")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # Reductions skip them.
        ((PADDED, "%r = tg.reduce max %p [0] : tensor<4xf32> -> tensor<1xf32>"), [-3]),
        ((PADDED, "%r = tg.reduce mul %p [0] : tensor<4xf32> -> tensor<1xf32>"), [15]),
        # Elementwise ops on them are invalid: adding 1 does not make a 1 of them.
        (
            (PADDED, ONE, "%r = tg.add %p, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"),
            [0, -2, -4, 0],
        ),
        # Movement carries them along.
        ((PADDED, "%r = tg.flip %p [true] : tensor<4xf32>"), [0, -5, -3, 0]),
        (
            (
                PADDED,
                "%s = tg.shrink %p at [0] to [2] : tensor<4xf32> -> tensor<2xf32>",
                "%r = tg.reduce max %s [0] : tensor<2xf32> -> tensor<1xf32>",
            ),
            [-3],
        ),
        # CONTIGUOUS and LOAD make zeros of them, which then count.
        (
            (
                PADDED,
                "%c = tg.contiguous %p : tensor<4xf32>",
                "%r = tg.reduce max %c [0] : tensor<4xf32> -> tensor<1xf32>",
            ),
            [0],
        ),
        (
            (
                PADDED,
                "%c = tg.load %p : tensor<4xf32> -> tensor<4xf32>",
                "%r = tg.reduce max %c [0] : tensor<4xf32> -> tensor<1xf32>",
            ),
            [0],
        ),
        (
            (
                PADDED,
                "%c = tg.detach %p : tensor<4xf32>",
                "%r = tg.reduce max %c [0] : tensor<4xf32> -> tensor<1xf32>",
            ),
            [-3],
        ),
        # A constant that is invalid.
        (
            (
                "%i = tg.const invalid : tensor<f32>",
                "%p = tg.add %x, %i : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>",
                "%r = tg.reduce max %p [0] : tensor<2xf32> -> tensor<1xf32>",
            ),
            [-np.inf],
        ),
        # STACK.
        (
            (
                PADDED,
                "%s = tg.stack %p, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>",
                "%m = tg.reduce max %s [0, 1] : tensor<2x4xf32> -> tensor<1x1xf32>",
                "%r = tg.reshape %m [1] : tensor<1x1xf32> -> tensor<1xf32>",
            ),
            [-3],
        ),
    ],
)
def test_invalid_cells(execute, lines, expected):
    text = body(*lines, arguments="%x: tensor<2xf32>", type=f"tensor<{len(expected)}xf32>")
    assert execute(text, V)[0].tolist() == expected


def test_where_looks_only_at_its_condition_and_the_branch_taken(execute):
    text = body(
        PADDED,
        "%w = tg.where %c, %p, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        "%q = tg.pad %c2 at [1] to [4] : tensor<2xi1> -> tensor<4xi1>",
        "%v = tg.where %q, %y, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        "%a = tg.reduce max %w [0] : tensor<4xf32> -> tensor<1xf32>",
        "%b = tg.reduce max %v [0] : tensor<4xf32> -> tensor<1xf32>",
        "%r = tg.stack %a, %b : (tensor<1xf32>, tensor<1xf32>) -> tensor<2x1xf32>",
        arguments="%x: tensor<2xf32>, %y: tensor<4xf32>, %c: tensor<4xi1>, %c2: tensor<2xi1>",
        type="tensor<2x1xf32>",
    )
    y = np.array([-1, -20, -30, -2], "f4")
    # First: invalid at 0 and valid -2 at 3. Second: only cells 1 and 2 have a valid condition.
    (r,) = execute(text, V, y, np.array([True, True, True, False]), np.array([True, False]))
    assert r.tolist() == [[-2], [-20]]


@pytest.mark.parametrize(("condition", "expected"), [(0.0, [0, 0, 0, 0]), (1.0, [0, -3, -5, 0])])
def test_padding_twice_keeps_the_first_invalid(execute, condition, expected):
    text = body(
        PADDED,
        "%s = tg.shrink %p at [1] to [2] : tensor<4xf32> -> tensor<2xf32>",
        "%q = tg.pad %s at [1] to [4] : tensor<2xf32> -> tensor<4xf32>",
        f"%c = tg.const {condition} : tensor<f32>",
        "%r = tg.mul %q, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>",
        arguments="%x: tensor<2xf32>",
        type="tensor<4xf32>",
    )
    assert np.abs(execute(text, V)[0]).tolist() == np.abs(expected).tolist()


# -- BITCAST -----------------------------------------------------------------------------------


def test_bitcast_to_narrower_wider_and_bool(execute):
    x = np.array([1.5, -2.0], "f4")
    text = body(
        "%b = tg.bitcast %x to ui8 : tensor<2xf32> -> tensor<8xui8>",
        "%f = tg.flip %b [true] : tensor<8xui8>",
        "%w = tg.bitcast %f to ui64 : tensor<8xui8> -> tensor<1xui64>",
        "%t = tg.bitcast %b to i1 : tensor<8xui8> -> tensor<8xi1>",
        "return %b, %w, %t : tensor<8xui8>, tensor<1xui64>, tensor<8xi1>",
        arguments="%x: tensor<2xf32>",
    )
    text = text.replace("-> tensor<2x3xf32>", "-> (tensor<8xui8>, tensor<1xui64>, tensor<8xi1>)")
    text = text.replace("return %r : tensor<2x3xf32>", "")
    b, w, t = execute(text, x)
    assert b.tolist() == x.view(np.uint8).tolist()
    assert w.tolist() == x.view(np.uint8)[::-1].copy().view(np.uint64).tolist()
    assert t.tolist() == (x.view(np.uint8) != 0).tolist()


def test_bitcast_to_wider_is_invalid_where_a_byte_is(execute):
    text = body(
        "%p = tg.pad %x at [2] to [8] : tensor<2xui8> -> tensor<8xui8>",
        "%w = tg.bitcast %p to i16 : tensor<8xui8> -> tensor<4xi16>",
        "%r = tg.reduce max %w [0] : tensor<4xi16> -> tensor<1xi16>",
        arguments="%x: tensor<2xui8>",
        type="tensor<1xi16>",
    )
    assert execute(text, np.array([255, 255], "u1"))[0].tolist() == [-1]
    text = text.replace("at [2]", "at [3]")
    # Both of its bytes are in cells with an invalid one: nothing is left.
    assert execute(text, np.array([255, 255], "u1"))[0].tolist() == [-(2**15)]


# -- REDUCE ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "dtype", "identity"),
    [
        ("add", "f32", 0.0),
        ("mul", "f32", 1.0),
        ("max", "f32", -np.inf),
        ("max", "f8E4M3FN", -448.0),
        ("max", "f8E5M2", -np.inf),
        ("max", "bf16", -np.inf),
        ("add", "i32", 0),
        ("mul", "ui8", 1),
        ("max", "i32", -(2**31)),
        ("max", "ui8", 0),
        ("add", "i1", False),
        ("mul", "i1", True),
        ("max", "i1", False),
    ],
)
def test_reduction_of_nothing_is_the_identity(execute, kind, dtype, identity):
    text = body(
        f"%e = tg.shrink %x at [0] to [0] : tensor<3x{dtype}> -> tensor<0x{dtype}>",
        f"%r = tg.reduce {kind} %e [0] : tensor<0x{dtype}> -> tensor<1x{dtype}>",
        arguments=f"%x: tensor<3x{dtype}>",
        type=f"tensor<1x{dtype}>",
    )
    from tgdialect.ops.arrays import NUMPY_DTYPES

    (r,) = execute(text, np.ones(3).astype(NUMPY_DTYPES[dtype]))
    assert r.astype(np.float64).tolist() == [float(identity)]


def reduce_all(execute, kind, x, dtype):
    text = body(
        f"%r = tg.reduce {kind} %x [0] : tensor<{len(x)}x{dtype}> -> tensor<1x{dtype}>",
        arguments=f"%x: tensor<{len(x)}x{dtype}>",
        type=f"tensor<1x{dtype}>",
    )
    return execute(text, x)[0][0]


def test_narrow_floats_accumulate_in_f32(execute):
    # In bf16 256 + 1 is 256 again; in f16 2048 + 1 is 2048.
    assert reduce_all(execute, "add", np.array([256] + [1] * 64, ml_dtypes.bfloat16), "bf16") == 320
    assert reduce_all(execute, "add", np.array([2048] + [1] * 64, "f2"), "f16") == 2112
    assert reduce_all(execute, "mul", np.array([512, 512, 1 / 1024], "f2"), "f16") == 256


def test_reductions_wrap_and_treat_bools_as_bools(execute):
    assert reduce_all(execute, "add", np.array([200, 100], "u1"), "ui8") == 44
    assert reduce_all(execute, "mul", np.array([100, 3], np.int8), "i8") == 44
    assert reduce_all(execute, "add", np.array([True, True]), "i1").item() is True
    assert reduce_all(execute, "mul", np.array([True, False]), "i1").item() is False


def test_max_propagates_nan_and_prefers_positive_zero(execute):
    assert np.isnan(reduce_all(execute, "max", np.array([1, NAN, 3], "f4"), "f32"))
    for x in ([-0.0, 0.0, -1], [0.0, -0.0, -1]):
        assert not np.signbit(reduce_all(execute, "max", np.array(x, "f4"), "f32"))
    assert np.signbit(reduce_all(execute, "max", np.array([-0.0, -1], "f4"), "f32"))


def test_ordered_adds_one_after_the_other_in_row_major_order(execute):
    x = np.array([[1e8, 1], [-1e8, 1]], "f4")
    text = body(
        "%r = tg.reduce add %x [0, 1] ordered : tensor<2x2xf32> -> tensor<1x1xf32>",
        arguments="%x: tensor<2x2xf32>",
        type="tensor<1x1xf32>",
    )
    # ((1e8 + 1) - 1e8) + 1 in f32, where 1e8 + 1 is 1e8.
    assert execute(text, x)[0].tolist() == [[1]]


# -- functions, tuples, calls --------------------------------------------------------------------


def test_function_substitutes_its_arguments(execute):
    text = """
    func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %t = tg.function(%a, %b) {
        %p = tg.param 0 : tensor<2xf32>
        %q = tg.param 1 : tensor<2xf32>
        %u = tg.function(%q, %p) {
          %p2 = tg.param 0 : tensor<2xf32>
          %q2 = tg.param 1 : tensor<2xf32>
          %d = tg.sub %p2, %q2 : tensor<2xf32>
          %t2 = tg.tuple %d : (tensor<2xf32>) -> !tg.tuple<tensor<2xf32>>
        } : (tensor<2xf32>, tensor<2xf32>) -> !tg.tuple<tensor<2xf32>>
        %v = tg.gettuple %u 0 : !tg.tuple<tensor<2xf32>> -> tensor<2xf32>
        %t3 = tg.tuple %v, %p : (tensor<2xf32>, tensor<2xf32>)
            -> !tg.tuple<tensor<2xf32>, tensor<2xf32>>
      } : (tensor<2xf32>, tensor<2xf32>) -> !tg.tuple<tensor<2xf32>, tensor<2xf32>>
      %x = tg.gettuple %t 0 : !tg.tuple<tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>
      %y = tg.gettuple %t 1 : !tg.tuple<tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>
      return %x, %y : tensor<2xf32>, tensor<2xf32>
    }"""
    a, b = np.array([1, 2], "f4"), np.array([10, 30], "f4")
    x, y = execute(text, a, b)
    assert x.tolist() == [9, 28]
    assert y.tolist() == [1, 2]


def test_func_call_and_recursion(execute):
    text = """
    func.func @twice(%a: tensor<2xf32>) -> tensor<2xf32> {
      %r = tg.add %a, %a : tensor<2xf32>
      return %r : tensor<2xf32>
    }
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %r = func.call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>
      %t = tg.call @twice(%r) : tensor<2xf32> -> !tg.tuple<tensor<2xf32>>
      %s = tg.gettuple %t 0 : !tg.tuple<tensor<2xf32>> -> tensor<2xf32>
      return %s : tensor<2xf32>
    }
    func.func @forever(%a: tensor<2xf32>) -> tensor<2xf32> {
      %r = func.call @forever(%a) : (tensor<2xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    }"""
    a = np.array([1, 2], "f4")
    assert execute(text, a)[0].tolist() == [4, 8]
    with pytest.raises(InterpretationError, match="nests more than"):
        execute(text, a, entry="forever")


def test_params_of_a_function_follow_its_arguments(execute):
    text = """
    func.func @main(%a: tensor<f32>) -> tensor<f32> {
      %p = tg.param 1 : tensor<f32>
      %n = tg.param 0 "n" min 1 max 4 : tensor<i32>
      %m = tg.cast %n to f32 : tensor<i32> -> tensor<f32>
      %r = tg.mulacc %a, %m, %p : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }"""
    assert execute(text, 2.0, 3, 10.0)[0] == 16
    with pytest.raises(InterpretationError, match="parameter n is 5, greater than 4"):
        execute(text, 2.0, 5, 10.0)


# -- multi-device --------------------------------------------------------------------------------

D = '["A", "B"]'


def test_collectives_of_the_specification(execute):
    """broadcast, and reduce_scatter by permute, copy and sum: values are the whole arrays."""
    text = f"""
    func.func @main(%t: tensor<4xf32>)
        -> (tensor<4xf32, #tg.place<"A">>, tensor<4xf32, #tg.place<"A">>) {{
      %0 = tg.reshape %t [1, 4] : tensor<4xf32> -> tensor<1x4xf32>
      %1 = tg.expand %0 [2, 4] : tensor<1x4xf32> -> tensor<2x4xf32>
      %2 = tg.copy %1 to {D} : tensor<2x4xf32> -> tensor<2x4xf32, #tg.place<{D}, axis = 0>>
      %3 = tg.replicated %2 axis 0 : tensor<2x4xf32, #tg.place<{D}, axis = 0>>
          -> tensor<4xf32, #tg.place<{D}>>
      %4 = tg.reshape %t [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
      %5 = tg.copy %4 to {D} : tensor<2x2xf32> -> tensor<2x2xf32, #tg.place<{D}, axis = 0>>
      %6 = tg.reshape %5 [4] : tensor<2x2xf32, #tg.place<{D}, axis = 0>>
          -> tensor<4xf32, #tg.place<{D}, axis = 0>>
      %7 = tg.copy %3 to "A" : tensor<4xf32, #tg.place<{D}>> -> tensor<4xf32, #tg.place<"A">>
      %8 = tg.copy %6 to "A" : tensor<4xf32, #tg.place<{D}, axis = 0>>
          -> tensor<4xf32, #tg.place<"A">>
      return %7, %8 : tensor<4xf32, #tg.place<"A">>, tensor<4xf32, #tg.place<"A">>
    }}"""
    t = np.arange(4, dtype="f4")
    a, b = execute(text, t)
    assert a.tolist() == b.tolist() == t.tolist()


# -- dynamic shapes ------------------------------------------------------------------------------

DYNAMIC = """
func.func @main(%n: tensor<index> {tg.min = 1 : index, tg.max = 8 : index},
                %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %two = tg.const 2 : tensor<index>
  %m = tg.add %n, %two : tensor<index>
  %one = tg.const 1 : tensor<index>
  %p = tg.pad %x at [%one] to [%m] fill 5.0 : f32 : tensor<?xf32> -> tensor<?xf32>
  return %p : tensor<?xf32>
}"""


def test_dynamic_extents(execute):
    assert execute(DYNAMIC, 2, np.array([1, 2], "f4"))[0].tolist() == [5, 1, 2, 5]
    with pytest.raises(InterpretationError, match="argument 1: axis 0 is 2, argument 0 says 3"):
        execute(DYNAMIC, 3, np.array([1, 2], "f4"))
    with pytest.raises(InterpretationError, match="argument 0 is 9, greater than 8"):
        execute(DYNAMIC, 9, np.zeros(9, "f4"))


def test_a_window_that_does_not_fit_at_run_time(execute):
    text = body(
        "%r = tg.shrink %x at [%o] to [2] : tensor<4xf32> -> tensor<2xf32>",
        arguments="%x: tensor<4xf32>, %o: tensor<index>",
        type="tensor<2xf32>",
    )
    x = np.arange(4, dtype="f4")
    assert execute(text, x, 2)[0].tolist() == [2, 3]
    with pytest.raises(InterpretationError, match="axis 0: offset 3 plus extent 2 exceeds 4"):
        execute(text, x, 3)
    with pytest.raises(InterpretationError, match="axis 0: offset -1 is negative"):
        execute(text, x, -1)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((2, 3)), "argument 0 is float32, the input float64"),
        (np.zeros((3, 2), "f4"), "argument 0 has shape 2x3, the input 3x2"),
        (np.zeros(3, "f4"), "argument 0 has shape 2x3, the input 3"),
    ],
)
def test_inputs_that_do_not_fit(execute, value, message):
    with pytest.raises(InterpretationError, match=message):
        execute(body("%r = tg.neg %x : tensor<2x3xf32>"), value)
    with pytest.raises(InterpretationError, match="1 inputs are wanted, 2 given"):
        execute(body("%r = tg.neg %x : tensor<2x3xf32>"), X, X)


# -- size ----------------------------------------------------------------------------------------


def test_deep_graphs_and_great_shapes(execute):
    lines = ["%v0 = tg.neg %x : tensor<2x3xf32>"]
    lines += [f"%v{i} = tg.neg %v{i - 1} : tensor<2x3xf32>" for i in range(1, 3000)]
    (r,) = execute(body(*lines, result="%v2999"), X)
    assert r.tolist() == X.tolist()
    text = body(
        "%0 = tg.reshape %x [2, 3, 1] : tensor<2x3xf32> -> tensor<2x3x1xf32>",
        "%1 = tg.expand %0 [2, 3, 1000000000000]"
        " : tensor<2x3x1xf32> -> tensor<2x3x1000000000000xf32>",
        "%r = tg.neg %1 : tensor<2x3x1000000000000xf32>",
        type="tensor<2x3x1000000000000xf32>",
    )
    with pytest.raises(InterpretationError, match="takes 24000000000000 bytes"):
        execute(text, X)


def test_arange_as_the_specification_writes_it(execute):
    """n = 2000 as a prefix sum over an n by n window."""
    n = 2000
    w = 2 * n - 1
    text = body(
        "%one = tg.const 1 : tensor<i32>",
        "%0 = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>",
        f"%1 = tg.expand %0 [{n}] : tensor<1xi32> -> tensor<{n}xi32>",
        f"%2 = tg.pad %1 at [{n - 1}] to [{w}] : tensor<{n}xi32> -> tensor<{w}xi32>",
        f"%3 = tg.reshape %2 [1, {w}] : tensor<{w}xi32> -> tensor<1x{w}xi32>",
        f"%4 = tg.expand %3 [{n + 1}, {w}] : tensor<1x{w}xi32> -> tensor<{n + 1}x{w}xi32>",
        f"%5 = tg.reshape %4 [{(n + 1) * w}]"
        f" : tensor<{n + 1}x{w}xi32> -> tensor<{(n + 1) * w}xi32>",
        f"%6 = tg.shrink %5 at [0] to [{2 * n * n}]"
        f" : tensor<{(n + 1) * w}xi32> -> tensor<{2 * n * n}xi32>",
        f"%7 = tg.reshape %6 [{n}, {2 * n}] : tensor<{2 * n * n}xi32> -> tensor<{n}x{2 * n}xi32>",
        f"%8 = tg.shrink %7 at [0, 0] to [{n}, {n}]"
        f" : tensor<{n}x{2 * n}xi32> -> tensor<{n}x{n}xi32>",
        f"%9 = tg.reduce add %8 [1] : tensor<{n}x{n}xi32> -> tensor<{n}x1xi32>",
        f"%10 = tg.reshape %9 [{n}] : tensor<{n}x1xi32> -> tensor<{n}xi32>",
        f"%r = tg.sub %10, %one : (tensor<{n}xi32>, tensor<i32>) -> tensor<{n}xi32>",
        type=f"tensor<{n}xi32>",
    )
    assert execute(text, X)[0].tolist() == list(range(n))


# -- custom code ---------------------------------------------------------------------------------

_CELL = "tensor<i32, #g>"
CUSTOM = f"""
#g = #tg.place<global>
tg.kernel @k {{
  %x = tg.param 0 : tensor<3xi32, #g>
  %c3 = tg.const 3 : tensor<index>
  %i = tg.range 0 loop to %c3 : tensor<index>
  %p = tg.index %x[%i] : (tensor<3xi32, #g>, tensor<index>) -> {_CELL}
  %v = tg.load %p : {_CELL} -> tensor<i32>
  %r = tg.custom "popcount({{0}})"(%v) : tensor<i32>
  %s = tg.store %p, %r : {_CELL}, tensor<i32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}}"""


def test_custom_code(execute):
    x = np.array([1, 3, 7], "i4")
    with pytest.raises(InterpretationError, match="is executed with allow_custom only"):
        execute(CUSTOM, x, entry="k")
    with pytest.raises(InterpretationError, match="has no implementation"):
        execute(CUSTOM, x, entry="k", allow_custom=True)
    custom = {"popcount({0})": np.bitwise_count}
    execute(CUSTOM, x, entry="k", allow_custom=True, custom=custom)
    assert x.tolist() == [1, 2, 3]
