"""`tg-decompose` builds what the recipes say: its ops, computed one by one, give their results."""

import numpy as np
import pytest
from numpy_recipe import DTYPES, Array, NumpySemantics, carry_out
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.dialect import TG
from tgdialect.ops import elementwise
from tgdialect.ops.dtypes import DTYPES as ROWS
from tgdialect.ops.properties import dtype_of, number
from tgdialect.ops.source import ConstOp
from tgdialect.transforms.decompose import RECIPES, DecomposePass

TYPES = {row.name: type for type, row in ROWS.items()}
OPS = {op.name.removeprefix("tg."): op for op in elementwise.DECOMPOSED}
X = np.array([0.0, -0.0, 0.3, 1.0, -2.5, 700.0, 1e30, -1e-40, np.inf, np.nan], np.float64)
Y = np.array([2.0, 3.0, -0.7, np.nan, 3.0, 0.5, 1.1, -1.0, -2.0, 0.0], np.float64)


def function(op_type: type[Operation], *dtypes: str, shapes=None, **properties) -> ModuleOp:
    """A function that applies the op to its arguments and returns the result."""
    shapes = shapes or [(len(X),)] * len(dtypes)
    types = [TensorType(TYPES[d], s) for d, s in zip(dtypes, shapes, strict=True)]
    block = Block(arg_types=types)
    op = op_type(*block.args, *properties.values())
    block.add_ops([op, ReturnOp(*op.results)])
    kind = FunctionType.from_lists(types, [op.results[0].type])
    return ModuleOp([FuncOp("f", kind, Region(block))])


def run(module: ModuleOp, *arrays: Array) -> Array:
    """The function's result, each op computed by the primitive of its name."""
    (func,) = module.ops
    block = func.body.block
    known: dict[SSAValue, Array] = dict(zip(block.args, arrays, strict=True))
    semantics = NumpySemantics()
    with np.errstate(all="ignore"):
        for op in block.ops:
            if isinstance(op, ReturnOp):
                return known[op.arguments[0]]
            dtype = dtype_of(op.results[0]).name
            if isinstance(op, ConstOp):
                known[op.result] = np.array(number(op.value), DTYPES[dtype])
            else:
                operands = tuple(known[o] for o in op.operands)
                name = op.name.removeprefix("tg.")
                known[op.results[0]] = semantics.apply(name, operands, dtype)
    raise AssertionError("no return")


def decomposed(module: ModuleOp, **options) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    module.verify()
    DecomposePass(**options).apply(context, module)
    module.verify()
    return module


def names(module: ModuleOp) -> set[str]:
    return {op.name for op in module.walk()}


PRIMITIVES = {op.name for op in elementwise.PRIMITIVES} | {"tg.const", "tg.bitcast"}
CONTAINERS = {"builtin.module", "func.func", "func.return"}


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(
    "op", [*elementwise.TRANSCENDENTAL, elementwise.SqrtOp], ids=lambda op: op.name
)
def test_ops_compute_what_the_recipe_computes(op, dtype):
    with np.errstate(all="ignore"):
        count = 1 if issubclass(op, elementwise.UnaryOp) else 2
        arrays = [a.astype(DTYPES[dtype]) for a in (X, Y)][:count]
    module = decomposed(function(op, *[dtype] * len(arrays)))
    assert names(module) <= PRIMITIVES | CONTAINERS
    expected, _ = carry_out(RECIPES[op.name.removeprefix("tg.")], *arrays)
    np.testing.assert_array_equal(run(module, *arrays), expected)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f8E5M2", "f8E4M3FN"])
@pytest.mark.parametrize("soft_casts", [False, True])
def test_narrow_floats_are_computed_in_f32(dtype, soft_casts):
    with np.errstate(all="ignore"):
        x = np.array([0.25, 1.0, 2.0, 0.5, 3.0, 4.0, 0.0, 6.0, 1.5, 0.75], DTYPES[dtype])
        expected = np.exp2(x.astype(np.float64)).astype(np.float32).astype(DTYPES[dtype])
    module = decomposed(function(OPS["exp2"], dtype), soft_casts=soft_casts)
    np.testing.assert_array_equal(run(module, x).astype("f4"), expected.astype("f4"))
    casts = [op for op in module.walk() if isinstance(op, elementwise.CastOp)]
    to_or_from = {dtype_of(v).name for op in casts for v in (op.source, op.result)}
    assert (dtype in to_or_from) != soft_casts


@pytest.mark.parametrize("dtype", ["f32", "i32", "ui8", "index"])
def test_arithmetic_and_comparisons(dtype):
    if dtype == "f32":
        a, b = X.astype(np.float32), Y.astype(np.float32)
    else:
        a, b = np.arange(10), np.arange(10)[::-1] // 2
        numpy_dtype = np.int64 if dtype == "index" else DTYPES[dtype]
        a, b = a.astype(numpy_dtype), b.astype(numpy_dtype)
    table = {
        "sub": np.subtract,
        "cmpgt": np.greater,
        "cmpge": lambda p, q: ~(p < q),
        "cmple": lambda p, q: ~(q < p),
        "cmpeq": np.equal,
    }
    for name, expected in table.items():
        module = decomposed(function(OPS[name], dtype, dtype))
        assert names(module) <= PRIMITIVES | CONTAINERS
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(run(module, a, b), expected(a, b))
    np.testing.assert_array_equal(run(decomposed(function(OPS["neg"], dtype)), a), -a)
    module = decomposed(function(OPS["mulacc"], dtype, dtype, dtype))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(module, a, b, a), a * b + a)


def test_operands_broadcast():
    module = decomposed(function(OPS["pow"], "f32", "f32", shapes=[(2, 1), (3,)]))
    x, y = np.array([[2.0], [3.0]], np.float32), np.array([0.0, 1.0, 2.0], np.float32)
    np.testing.assert_array_equal(run(module, x, y), x**y)


def test_a_chosen_op_leaves_the_others():
    module = decomposed(function(OPS["exp2"], "f32"), ops=("exp2",))
    assert "tg.exp2" not in names(module)
    assert {"tg.mulacc", "tg.sub"} <= names(module)
    assert "tg.exp2" in names(decomposed(function(OPS["exp2"], "f32"), ops=("log2", "sub")))


def test_unknown_op():
    with pytest.raises(PassFailedException, match="'exq' is not a decomposed op: neg, not, exp2"):
        decomposed(ModuleOp([]), ops=("exq",))


def test_locations_are_kept():
    module = function(OPS["exp2"], "f32")
    (func,) = module.ops
    location = object()
    func.body.block.first_op.location = location
    decomposed(module)
    assert all(op.location is location for op in func.body.block.ops if op.name != "func.return")


def test_every_decomposed_op_has_a_decomposition():
    assert set(RECIPES) == set(OPS)
