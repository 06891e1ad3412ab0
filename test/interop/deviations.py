"""Tests of tinygrad's that fail because we decided otherwise, each with the reason."""

_KEPT = "tinygrad refuses to read a value that is overwritten later; here a value is kept"
_OTHER_USES = "tinygrad refuses a write to a tensor with other uses; here those keep their value"

DEVIATIONS = {
    "TestAssign::test_assign_diamond_cycle": _KEPT,
    "TestAssign::test_assign_diamond_contiguous_cycle": _KEPT,
    "TestAssign::test_crossunder_assign": _KEPT,
    "TestAssignOrdering::test_variable_slice_ordering": (
        "tinygrad refuses one variable with two values in a program; here these are two sizes"
    ),
    "TestAssignOrdering::test_war_reader_already_depends_on_write": (
        "expects a wrong number, as its comment says: z should be 15, which it is here"
    ),
    "TestFunction::test_iadd": "expects an argument to be changed twice, which its comment regrets",
    "TestSetitem::test_setitem_dtype_mismatch": "the value is cast, as in PyTorch",
    "TestSetitem::test_setitem_swap_rows": (
        "a view shows the tensor as it was when the view was made (docs/tensor.md)"
    ),
    "TestWithGrad::test_set_used_before_setitem": _OTHER_USES,
    "TestWithGrad::test_setitem_raises_on_unrealized_compute_base": _OTHER_USES,
    "TestWithGrad::test_setitem_raises_with_unrealized_downstream": _OTHER_USES,
    "TestTensorGradient::test_setitem_on_grad_used_tensor_raises": _OTHER_USES,
    "TestTensorGradient::test_zero_if_not_used": (
        "a gradient with respect to a tensor that was not used is an error, as in PyTorch: most "
        "often it was assigned to since"
    ),
    "TestJit::test_jit_duplicate_fail": "TinyJit refuses one tensor twice; `@tg.function` takes it",
    "TestJit::test_jit_shape_views_mismatch": (
        "TinyJit refuses a view at another offset; `@tg.function` takes it"
    ),
    "TestJit::test_nothing_jitted": "TinyJit refuses to return None; `@tg.function` returns it",
    "TestJit::test_jit_buffer_behavior": (
        "expects a call to overwrite the result of the call before; here a result is kept"
    ),
    "TestJitInsideJit::test_jit_jit_error": "a traced function may call another one",
    "TestOps::test_scatter_no_reduce_tensor_src": (
        "tinygrad refuses to reduce a tensor; it is added here, as in PyTorch, and the axis refused"
    ),
    "TestOps::test_sigmoid_alt_extreme": (
        "tinygrad computes exp(x) / (1 + exp(x)) as a sigmoid; it is NaN here, as in PyTorch"
    ),
    "TestZeroShapeTensor::test_clone_with_grad": "a clone has no `grad`, as in PyTorch",
    "TestTensorGradient::test_const_target_raise": (
        "tinygrad refuses the gradient by a tensor of a number; it is computed here"
    ),
    "TestFp8sConversions::test_float_to_fp8e5m2_extreme_values": (
        "expects PyTorch's bits of NaN; here it has those of ml_dtypes and LLVM"
    ),
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
"""The reasons, by class and name."""
