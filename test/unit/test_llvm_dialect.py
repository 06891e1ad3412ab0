"""The `llvm` operations that xDSL lacks: assembly, verifiers, and upstream's opinion of both."""

import re
import shutil
import subprocess

import pytest
from parsing import LLVM_OPS, ops_of_llvm_19, parse_llvm
from xdsl.dialects import test
from xdsl.dialects.builtin import f32, i1, i8, i32, i64
from xdsl.dialects.llvm import LLVM, LLVMPointerType
from xdsl.utils.exceptions import ParseError, VerifyException

from tgdialect.llvm_dialect import LLVM_WITH_GAPS, REPLACED, atomics, intrinsics, memory, values


def body(lines: str) -> str:
    arguments = "%p: !llvm.ptr, %f: f32, %i: i32, %v: vector<4xf32>, %w: vector<4xi32>"
    return f"llvm.func @f({arguments}) {{\n{lines}\nllvm.return\n}}"


def test_every_name_is_declared_once():
    names = [op.name for op in LLVM_WITH_GAPS.operations]
    assert len(names) == len(set(names))
    assert {op.name for op in LLVM.operations} < set(names)
    assert "llvm.fcmp" in REPLACED
    assert "llvm.fadd" not in REPLACED


def test_classes_are_found_by_their_names():
    for module in (atomics, intrinsics, memory, values):
        for name, kind in vars(module).items():
            assert not isinstance(kind, type) or kind.__name__ == name


def test_printed_text_parses_to_the_same_module():
    module = parse_llvm(LLVM_OPS.read_text())
    text = str(module)
    again = parse_llvm(text)
    assert again.is_structurally_equivalent(module)
    assert str(again) == text


@pytest.mark.skipif(shutil.which("mlir-opt-19") is None, reason="needs mlir-opt-19")
def test_upstream_accepts_the_printed_text():
    text = str(parse_llvm(ops_of_llvm_19()))
    result = subprocess.run(["mlir-opt-19"], input=text, text=True, capture_output=True)
    assert result.returncode == 0, result.stderr


CMPXCHG = (
    '%0 = "llvm.cmpxchg"(%p, %i, %i) <{{{{success_ordering = {} : i64, '
    "failure_ordering = {} : i64}}}}> : (!llvm.ptr, i32, i32) -> !llvm.struct<(i32, i1)>"
)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("llvm.fence monotonic", "expected an ordering of at least 'acquire'"),
        ("%0 = llvm.atomicrmw add %p, %i unordered : !llvm.ptr, i32", "at least 'monotonic'"),
        ("%0 = llvm.atomicrmw plus %p, %i monotonic : !llvm.ptr, i32", "operation 'plus'"),
        ("%0 = llvm.load %p atomic strong : !llvm.ptr -> i32", "atomic ordering 'strong'"),
        ('%0 = llvm.fcmp "less" %f, %f : f32', "unknown predicate 'less'"),
        ("%0 = llvm.cmpxchg %p, %i acq_rel monotonic : !llvm.ptr, i32", "got 2 operands"),
        ("%0 = llvm.fptosi %i : i32 to i32", "i32"),
        ("%0 = llvm.uitofp %f : f32 to f32", "f32"),
        ("%0 = llvm.intr.maximum(%i, %i) : (i32, i32) -> i32", "i32"),
        ('%0 = "llvm.intr.vector.reduce.add"(%w) : (vector<4xi32>) -> i64', "i64"),
        (
            '%u = "llvm.mlir.undef"() : () -> vector<4xvector<2xi32>>\n'
            '%0 = "llvm.intr.vector.reduce.add"(%u) : (vector<4xvector<2xi32>>) -> vector<2xi32>',
            "vector<2xi32>",
        ),
        ("%0 = llvm.select %i, %f, %f : i32, f32", "i32"),
        (
            '%0 = "llvm.fcmp"(%f, %f) <{predicate = 1 : i64}> : (f32, f32) -> vector<1xi1>',
            "a comparison of f32 does not give vector<1xi1>",
        ),
        *(
            (line.format(3), "3 is no atomic ordering")
            for line in (
                '%0 = "llvm.load"(%p) <{{ordering = {} : i64}}> : (!llvm.ptr) -> i32',
                '"llvm.store"(%i, %p) <{{ordering = {} : i64}}> : (i32, !llvm.ptr) -> ()',
                '"llvm.fence"() <{{ordering = {} : i64}}> : () -> ()',
                '%0 = "llvm.atomicrmw"(%p, %i) <{{bin_op = 1 : i64, ordering = {} : i64}}> '
                ": (!llvm.ptr, i32) -> i32",
                CMPXCHG.format("{}", 2),
                CMPXCHG.format(2, "{}"),
            )
        ),
        ('"llvm.fence"() <{ordering = 99 : i64}> : () -> ()', "99 is no atomic ordering"),
        (CMPXCHG.format(2, 1).format(), "at least 'monotonic'"),
        *(
            (
                f'%0 = "llvm.fcmp"(%f, %f) <{{predicate = {number} : i64}}> : (f32, f32) -> i1',
                f"{number} is no predicate of a comparison",
            )
            for number in (-1, 16, 99)
        ),
    ],
)
def test_errors(lines: str, message: str):
    with pytest.raises((ParseError, VerifyException), match=message.replace("(", r"\(")):
        parse_llvm(body(lines))


def test_constructors_build_what_the_assembly_says():
    def value(type):
        return test.TestOp(result_types=[type]).results[0]

    pointer, number, integer = value(LLVMPointerType()), value(f32), value(i32)
    built = {
        memory.LoadOp(pointer, f32, 16): "llvm.load % {alignment = 16 : i64} : !llvm.ptr",
        memory.StoreOp(number, pointer, nontemporal=True): "store %, % {nontemporal} : f32",
        values.FCmpOp(number, number, "ole"): 'llvm.fcmp "ole" %, % : f32',
        atomics.AtomicRMWOp("fadd", pointer, number): "atomicrmw fadd %, % monotonic",
        atomics.FenceOp("release", "agent"): 'llvm.fence syncscope("agent") release',
        memory.MemsetOp(pointer, value(i8), value(i64)): "isVolatile = false",
        intrinsics.SMaxOp(integer, integer): "llvm.intr.smax(%, %) : (i32, i32) -> i32",
        values.SelectOp(value(i1), number, number): "llvm.select %, %, % : i1, f32",
        memory.PrefetchOp(pointer, write=True, locality=0): "rw = 1 : i32",
    }
    for op, text in built.items():
        op.verify()
        assert text in re.sub(r"%\d+", "%", str(op))
