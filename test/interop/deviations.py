"""Tests of tinygrad's that fail because we decided otherwise, each with the reason."""

_KEPT = "to read a value that is overwritten later; here a value is kept"
_OTHER_USES = "to write to a tensor with other uses; here those keep their value, as in PyTorch"
_OVERFLOW = (
    "an infinity becomes 448 in f8E4M3FN, and f8E5M2 overflows to one, as in PyTorch; in tinygrad "
    "the first becomes NaN, and the second saturates"
)

REFUSED = {
    "TestAssign::test_assign_diamond_cycle": _KEPT,
    "TestAssign::test_assign_diamond_contiguous_cycle": _KEPT,
    "TestAssign::test_crossunder_assign": _KEPT,
    "TestAssignOrdering::test_variable_slice_ordering": (
        "one variable with two values in a program; here these are two sizes"
    ),
    "TestSetitem::test_setitem_dtype_mismatch": "another dtype; the value is cast, as in PyTorch",
    "TestWithGrad::test_set_used_before_setitem": _OTHER_USES,
    "TestWithGrad::test_setitem_raises_on_unrealized_compute_base": _OTHER_USES,
    "TestWithGrad::test_setitem_raises_with_unrealized_downstream": _OTHER_USES,
    "TestTensorGradient::test_setitem_on_grad_used_tensor_raises": _OTHER_USES,
    "TestSymbolicOps::test_attention_training": "dropout of a symbolic shape",
    "TestTensorGradient::test_const_target_raise": "the gradient by a tensor of a number",
    "TestJit::test_jit_duplicate_fail": "one tensor twice; `@tg.function` takes it",
    "TestJit::test_jit_shape_views_mismatch": "a view at another offset; `@tg.function` takes it",
    "TestJit::test_nothing_jitted": "to return None; `@tg.function` returns it",
    "TestJitInsideJit::test_jit_jit_error": "a TinyJit in another one; traced functions nest",
    "TestOps::test_scatter_no_reduce_tensor_src": (
        "to reduce a tensor; it is added here, as in PyTorch, and the axis refused"
    ),
}
"""What tinygrad refuses and we compute, by class and name: tests that expect the error."""
DIFFERENT = {
    "TestAssignOrdering::test_war_reader_already_depends_on_write": (
        "expects a wrong number, as its comment says: z should be 15, which it is here"
    ),
    "TestFunction::test_iadd": "expects an argument to be changed twice, which its comment regrets",
    "TestJit::test_jit_buffer_behavior": (
        "expects a call to overwrite the result of the call before; here a result is kept"
    ),
    "TestOps::test_sigmoid_alt_extreme": (
        "tinygrad computes exp(x) / (1 + exp(x)) as a sigmoid; it is NaN here, as in PyTorch"
    ),
    "TestFp8sConversions::test_float_to_fp8e5m2_extreme_values": (
        "expects PyTorch's bits of NaN; here it has those of ml_dtypes and LLVM"
    ),
    **{
        f"TestDTypeALU::test_{emulated}fp8{kind}{arity}": _OVERFLOW
        for emulated in ("", "emulated_")
        for kind in ("e4m3", "e5m2")
        for arity in ("", "_unary")
    },
    "TestNN::test_load_state_dict_shape_mismatch": (
        "refused here as well, in other words: it expects tinygrad's sentence"
    ),
    "TestTensorVariable::test_shrink_beyond_buffer_variable": (
        "expects a read out of bounds to pass; it is refused here"
    ),
    "TestTensorVariable::test_symbolic_chunk_error_on_symbolic_dim": (
        "refused here as well: ValueError, not AssertionError"
    ),
    "TestTensorGradient::test_non_scalar_output": (
        "refused here as well: RuntimeError as in PyTorch, not AssertionError"
    ),
    "TestAssign::test_assign_copy": "there is no device of tinygrad's named PYTHON",
    "TestAssign::test_disk_assignment": "there is no device of tinygrad's named DISK",
    "TestTinygrad::test_copy_from_disk": "there is no device of tinygrad's named DISK",
}
"""Other differences by decision."""
_SIZES = "a variable is a size when it is bound: it is no UOp, not negative, and no float"
_SHARDS = "tensors that are split alike are computed with: others are split or copied by a call"
_TRACES = (
    "TinyJit keeps the values of its first call; a traced function refuses to, or traces again"
)
_VARIABLES = "'Variable'|'SymInt'|Variable.__init__|is between -|a size is an integer"
KINDS = (
    ("", "DeviceError: '(NULL|PYTHON)", "by design", "there is no device of tinygrad's named {}"),
    ("", "DeviceError: '(disk):|(a tensor of PosixPath)", "by design", "no device is a file"),
    ("", "not Invalid", "by design", "there is no element that is never computed"),
    ("", "no attribute 'keccak'|a tensor of list", "by design", "Tensor has no keccak"),
    ("", "the sharding axis|sharded on different|not split into", "by design", _SHARDS),
    ("jit_footguns", "", "by design", _TRACES),
    ("^(amd|device|mockgpu)/", "", "internals", "the assembler, or the runtime of a device"),
    (
        "_uop|simplify|_failures|^null/test_(gradient|helpers)|^opt/",
        _VARIABLES,
        "internals",
        _SIZES,
    ),
    ("", _VARIABLES, "by design", _SIZES),
    ("linearizer|uop_|gpudims|process_replay", "", "internals", "what is made of UOps"),
    ("", "'DType' object has no attribute 'const'", "internals", "DType.const"),
    ("", "NameError: name '", "internals", "a name of a module that is imported by *"),
    ("", r"issubclass\(\) arg 2|Internal", "internals", "a class of tinygrad's runtime"),
    ("", "No module named '(.*)'|No such file or directory: '(clang)'", "skipped", "{} is missing"),
)
"""Failures of one kind: expressions for the file and the reason, the outcome, and its reason, which
has the first group."""
