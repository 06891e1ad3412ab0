"""Tests of tinygrad's that fail because we decided otherwise, each with the reason."""

_KEPT = "to read a value that is overwritten later; here a value is kept"
_OTHER_USES = "to write to a tensor with other uses; here those keep their value, as in PyTorch"
_OVERFLOW = (
    "an infinity becomes 448 in f8E4M3FN, and f8E5M2 overflows to one, as in PyTorch; in tinygrad "
    "the first becomes NaN, and the second saturates"
)

_FROZEN = (
    "expects TinyJit to keep a value of its first call; a traced function traces again, or says "
    "that it is called in another way"
)
_READ = "expects a value that is read while a function is traced to be kept; it is refused here"
_WEAK = "there are no weak dtypes: a number of Python takes the dtype of a tensor"

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
    **{
        f"TestJitFootguns::test_{name}": f"{what}; `@tg.function` takes it"
        for name, what in {
            "duplicate_inputs_fail": "one tensor twice",
            "nested_jit_fails_on_second_call": "a TinyJit in another one",
            "nothing_realized_fails": "a function that returns no tensor",
            "positional_kwargs_cannot_mix": "an argument by name that was given by position",
            "unrealized_const_input_error": "a number as an argument",
            "views_with_different_offsets_fail": "a view at another offset",
        }.items()
    },
    "TestStunning::test_indexing_two_bind": (
        "one variable with two values in a program; here these are two sizes"
    ),
    "TestMultiTensor::test_init_rand_with_multiple_devices_fail": (
        "random numbers on several devices; here each has a copy"
    ),
    "TestMultiTensor::test_rand_like_arg_device": (
        "other devices for random numbers like a tensor on several"
    ),
    "TestTensorConstLike::test_full_like_device_on_multi_raises": (
        "another device for a tensor like one on several"
    ),
    "TestAutoCastType::test_where_non_bool_cond_raises": (
        "a condition that is no bool; here it is true where it is not 0, as in NumPy"
    ),
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
    "TestJitFootguns::test_output_buffer_reuse": (
        "expects a call to overwrite the result of the call before; here a result is kept"
    ),
    **{
        f"TestJitFootguns::test_{name}": _FROZEN
        for name in (
            *("class_method_shared_across_instances", "conditional_branches_frozen"),
            "symbolic_pad_view_frozen",
        )
    },
    **{
        f"TestJitFootguns::test_{name}": _READ
        for name in ("item_bakes_in_values", "item_creates_unrealized_return")
    },
    "TestJitFootguns::test_tolist_bakes_in_values": _READ,
    "TestMultiTensor::test_data_parallel_simple_train_step": (
        "expects classes of any shape for logits with one axis; classes have the shape of the "
        "logits without the axis of classes"
    ),
    "TestTensorConstLike::test_const_like_multi_device": (
        "expects a tensor of a number to be on no device; one that is like another is where that is"
    ),
    "TestEqStrDType::test_strs": "a dtype is printed by its name in MLIR",
    "TestHelpers::test_dtype_range": (
        "expects infinity as the greatest number of f8E4M3FN, which has none: it is 448"
    ),
    "TestTypePromotion::test_promo_resulted_higher_than_inputs": "dtypes have no order",
    "TestSymbolicShrink::test_shrink_symbols_simple": (
        "expects a variable as a size of a shape; it is an expression of variables"
    ),
    "TestTensorShape::test_float_shape_raises": (
        "refused here as well: TypeError, not RuntimeError"
    ),
    "TestTensorPad::test_pad_int_with_neg_inf": (
        "expects floats where integers are padded with -inf, which is refused, as in PyTorch"
    ),
    "TestRealizeIsRealized::test_multi": "the devices of a tensor are distinct",
    "TestTensorData::test_data_empty_multi_dim": (
        "expects one axis of the memory of an empty tensor; it has those of the tensor"
    ),
    **{
        f"TestWeakPromotion::test_{name}": _WEAK
        for name in (
            *("broadcasted_keeps_const_weak", "cast_weak_expression_value_uses_cast_floor"),
            *("dot_defers_weak", "minimum_reflects_weak_operand"),
        )
    },
    "TestWeakPromotion::test_copysign_meets_operands": (
        "expects an integer; copysign of integers is a float, as in PyTorch"
    ),
    "TestWeakStorageBoundary::test_weak_source": _WEAK,
    "TestSignedUint64Weakfloat::test_weakfloat_lowers": _WEAK,
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
    "TestAssign::test_disk_assignment": "there is no device of tinygrad's named DISK",
    "TestTinygrad::test_copy_from_disk": "there is no device of tinygrad's named DISK",
}
"""Other differences by decision."""
_SIZES = "a variable is a size when it is bound: it is no UOp, not negative, and no float"
_SHARDS = "tensors that are split alike are computed with: others are split or copied by a call"
_VARIABLES = "'Variable'|'SymInt'|Variable.__init__|is between -|a size is an integer"
KINDS = (
    ("", "DeviceError: '(?i:disk):|a tensor of PosixPath", "by design", "no device is a file"),
    ("", "not (Invalid)|'(Invalid)'", "by design", "there is no element that is never computed"),
    ("TestKeccak::", "a tensor of list", "by design", "Tensor has no hash functions"),
    ("", "the sharding axis|sharded on different|not split into", "by design", _SHARDS),
    (
        "::Test(Gradient|FuzzFailure)::|^null/test_uop_|^opt/",
        _VARIABLES,
        "internals",
        "UOps that are made of variables",
    ),
    ("", _VARIABLES, "by design", _SIZES),
    ("", r"issubclass\(\) arg 2|Internal", "internals", "a class of tinygrad's runtime"),
    ("", "No module named '(.*)'", "skipped", "{} is missing"),
    ("", "No such file or directory: '(clang)'", "skipped", "{} is missing"),
)
"""Failures of one kind: expressions for the file with the test and the reason, the outcome, and its
reason, which has the first group."""
OF_TINYGRAD = {
    "^(amd|mockgpu)/": "the assembler of a processor",
    "^device/test_hcq": "the runtime of a device",
    "^null/test_helpers": "functions of Python in tinygrad.helpers",
    "^null/test_dtype_spec.*::test_truncate": "functions of Python in tinygrad.dtype",
    "^null/test_gc": "how many tensors and buffers tinygrad makes",
    "^null/test_tensor_metadata.*::TestTraceMetaShutdown": "a process that imports tinygrad itself",
    "^null/test_simplify_valid_idx": "UOps of indices",
    "^null/test_uops": "UOps",
    "^testextra/test_bench_log": "tinygrad's log of times",
}
"""Tests in which nothing of ours is executed, by file and test, with what they look at: they are
internals, also those that pass."""
