"""Each line of `--help` of `tg-opt`, `tg-run`, `tg-compile`, `tg-bisect` and `tg-reduce` does what
it says, from an empty folder.

An option without an example here fails, and so does a line of an epilog.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tgdialect.backends.commands import ptxas
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.tools import tg_bisect, tg_compile, tg_opt, tg_reduce, tg_run
from tgdialect.tools.arguments import OptParser
from tgdialect.tools.console import ConsoleParser

ADD = """func.func @f(%a: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}
"""
NEG = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.neg %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
TWO = NEG + NEG.replace("@main", "@other").replace("tg.neg", "tg.sqrt")
LARGE_GEMM = """func.func @main(%a: tensor<8x512xf32>, %b: tensor<512x256xf32>)
  -> tensor<8x1x256xf32> {
  %x = tg.reshape %a [8, 512, 1] : tensor<8x512xf32> -> tensor<8x512x1xf32>
  %y = tg.reshape %b [1, 512, 256] : tensor<512x256xf32> -> tensor<1x512x256xf32>
  %z = tg.mul %x, %y : (tensor<8x512x1xf32>, tensor<1x512x256xf32>) -> tensor<8x512x256xf32>
  %c = tg.reduce add %z [1] : tensor<8x512x256xf32> -> tensor<8x1x256xf32>
  return %c : tensor<8x1x256xf32>
}
"""
DYNAMIC = """
func.func @main(%n: tensor<index> {tg.name = "n", tg.min = 1 : index, tg.max = 2000 : index},
                %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<1xf32> {
  %0 = tg.reduce add %x [0] : tensor<?xf32> -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
"""
CUSTOM = """tg.program @k {
  %0 = tg.linear {
    %out = tg.param 0 : tensor<1xui8, #tg.place<global>>
    %1 = tg.const 127 : tensor<ui8>
    %2 = tg.const 0 : tensor<index>
    %3 = tg.index %out[%2]
      : (tensor<1xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
    %4 = tg.store %3, %1 : tensor<ui8, #tg.place<global>>, tensor<ui8>
    %5 = tg.sink %4 : !tg.void
  }
}
func.func @main(%out: tensor<1xui8, #tg.place<"CPU", global>> {tg.output}) {
  %0 = tg.linear {
    %1 = tg.call @k(%out) : tensor<1xui8, #tg.place<"CPU", global>> -> !tg.void
  }
  return
}
"""
ROOT = """!a = tensor<f32, #tg.place<"CPU", global>>
tg.kernel @k {
  %a = tg.param 0 : tensor<f32, #tg.place<global>>
  %0 = tg.load %a : tensor<f32, #tg.place<global>> -> tensor<f32>
  %1 = tg.custom "sqrt({0})"(%0) : tensor<f32>
  %2 = tg.store %a, %1 : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %2 : !tg.void
}
func.func @main(%a: !a) {
  %0 = tg.call @k(%a) : (!a) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  return
}
"""
LISTING = """func @main
   0 Ops.PARAM            : dtypes.float.vec(3)                  []                   0, %x
   1 Ops.NEG              : dtypes.float.vec(3)                  [0]
   2 Ops.FUNC.RETURN      : dtypes.void                          [1]
"""

Main = Callable[[Sequence[str]], int]


@dataclass(frozen=True)
class Example:
    """A command line with `{flag}` in it. `out` and `err` are patterns of what it prints with the
    option, and does not print without it; `file` is the name of a file and a pattern in it."""

    args: str
    program: str
    out: str = ""
    err: str = ""
    code: int = 0
    file: tuple[str, str] | None = None
    differs: bool = field(default=True)


def opt(args: str, out: str = "", program: str = ADD, **more: Any) -> Example:
    return Example(f"file.mlir {args}", program, out, **more)


def run(args: str, out: str = "", program: str = NEG, **more: Any) -> Example:
    return Example(f"file.mlir --target=interpreter {args}", program, out, **more)


ONE_ADDITION = r"\A(?!(.*\n)*.*addi(.*\n)*.*addi)(.*\n)*.*addi"
SPLIT = ADD + "// -----\n" + ADD
CUT = ADD + "// CUT\n" + ADD
TWO_MODULES = r"module(.*\n)*.*module"
WRONG = "func.func @f() { nope }"
BROKEN = ADD.replace("%0 = arith.addi %a, %a : i32", '%0 = "arith.addi"(%a) : (i32) -> i32')
CONSTANT = """func.func @f() -> tensor<3xi32> {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  return %0 : tensor<3xi32>
}
"""

TO_KERNELS = "-p tg-callify,tg-rangeify,'tg-optimize{mode=heuristic}'"
SCHEDULE = r"remark: \[Passed\] Schedule \| Category:tg-optimize"
YAML = "mlir-remarks.yaml", r"--- !Passed\nPass: +'tg-optimize'"
TWICE = LARGE_GEMM.replace(
    "  return %c",
    """  %m = tg.reduce max %c [2] : tensor<8x1x256xf32> -> tensor<8x1x1xf32>
  %d = tg.sub %c, %m : (tensor<8x1x256xf32>, tensor<8x1x1xf32>) -> tensor<8x1x256xf32>
  return %d""",
)
REPRODUCER = (
    ADD
    + """
{-# external_resources: { mlir_reproducer: { pipeline: "builtin.module(cse)" } } #-}
"""
)

OPT_EXAMPLES: Mapping[str, Sequence[Example]] = {
    "help": [opt("{flag}", "usage: tg-opt")],
    "input_file": [opt("", "arith.addi", differs=False)],
    "passes": [
        opt("{flag} cse", ONE_ADDITION),
        opt("{flag} canonicalize {flag} cse", ONE_ADDITION),
    ],
    "pass_pipeline": [opt("'{flag}=builtin.module(func.func(cse))'", ONE_ADDITION)],
    "verify_each": [
        opt("'{flag}' -p cse", "addi", differs=False),
        opt("'{flag}=false' -p cse", "addi", differs=False),
    ],
    "allow_external": [opt("{flag} --list-passes", "(?m)^mlir-opt ")],
    "disable_verify": [opt("{flag} --print-op-generic", "addi", program=BROKEN)],
    "verify_roundtrip": [opt("{flag}", "addi", differs=False)],
    "mlir_pass_pipeline_crash_reproducer": [
        opt(
            "{flag}=r.mlir -p tg-expand",
            err="note: reproducer: r.mlir",
            program=NEG,
            code=1,
            file=("r.mlir", "pipeline: .*tg-expand"),
        )
    ],
    "mlir_pass_pipeline_local_reproducer": [
        opt(
            "{flag} -p cse,tg-expand --mlir-pass-pipeline-crash-reproducer=r.mlir",
            program=NEG,
            code=1,
            file=("r.mlir", r'pipeline: "builtin.module\(tg-expand'),
            differs=False,
        )
    ],
    "run_reproducer": [opt("{flag}", ONE_ADDITION, program=REPRODUCER)],
    "shrink": [opt("{flag}", "Failure, can't shrink", code=1)],
    "frontend": [opt("{flag} uops", "tg.neg", program=LISTING)],
    "data_folder": [opt("{flag} .", "tg.neg", differs=False)],
    "split_input_file": [
        opt("{flag}", TWO_MODULES, program=SPLIT),
        opt("'{flag}=// CUT'", TWO_MODULES, program=CUT),
    ],
    "allow_unregistered_dialect": [opt("{flag}", "a.b", program='"a.b"() : () -> ()')],
    "no_implicit_module": [opt("{flag}", err="builtin.module", code=1)],
    "output_file": [opt("{flag} out.mlir", file=("out.mlir", "addi"), differs=False)],
    "target": [opt("{flag} uops", "Ops.ARITH.ADDI")],
    "print_op_generic": [opt("{flag}", r'"arith.addi"\(')],
    "print_debuginfo": [opt("{flag}", r'loc\("file.mlir":2:')],
    "mlir_elide_elementsattrs_if_larger": [opt("{flag}=2", "__elided__", program=CONSTANT)],
    "output_split_marker": [opt("'{flag}=// XX' --split-input-file", "// XX\n", program=SPLIT)],
    "print_no_properties": [opt("{flag} --print-op-generic", r"\) \{overflowFlags")],
    "syntax_highlight": [opt("{flag}", "\x1b")],
    "verify_diagnostics": [
        opt("{flag}", program="// expected-error@below {{not registered}}\n" + WRONG)
    ],
    "parsing_diagnostics": [opt("{flag}", "error: operation 'nope'", program=WRONG)],
    "mlir_print_ir_before": [opt("{flag}=cse -p cse", "addi", err="IR Dump Before cse")],
    "mlir_print_ir_after": [opt("{flag}=cse -p cse,dce", "addi", err="IR Dump After cse")],
    "mlir_print_ir_before_all": [opt("{flag} -p cse,dce", "addi", err="IR Dump Before dce")],
    "mlir_print_ir_after_all": [opt("{flag} -p cse,dce", "addi", err="IR Dump After dce")],
    "mlir_print_ir_after_change": [
        opt(
            "{flag} -p cse,cse --mlir-print-ir-after-all",
            err=r"\A// -----// IR Dump After cse //----- //\n(?!(.*\n)*.*IR Dump)",
        )
    ],
    "mlir_print_ir_after_failure": [
        opt("{flag} -p cse,tg-expand", err=r"\A.*Dump After tg-expand Failed", program=NEG, code=1)
    ],
    "tg_action_limit": [opt("{flag} 1 -p tg-decompose", "tg.neg", program=NEG)],
    "log_actions_to": [
        opt(
            "{flag} - -p tg-decompose",
            err="action 2: tg-decompose: recipe: tg.neg @main",
            program=NEG,
        )
    ],
    "pattern_coverage": [
        opt(
            "{flag}=fired.txt -p cse",
            file=("fired.txt", r"1\tcse\tpass\tbuiltin.module"),
            differs=False,
        )
    ],
    "mlir_print_ir_tree_dir": [
        opt(
            "{flag}=tree -p cse --mlir-print-ir-after-all",
            file=("tree/builtin_module_no-symbol-name/0_cse.mlir", "// -----// IR Dump After cse"),
            differs=False,
        )
    ],
    "diff": [opt("{flag} cse -p cse", "addi", err=r"(?m)^-  %1 = arith.addi")],
    "dump_pass_pipeline": [
        opt("{flag} -p cse", "addi", err=r"Pass Manager with 1 passes:\nbuiltin.module\(cse\)")
    ],
    "mlir_print_remarks": [
        opt("{flag} -p tg-callify,tg-rangeify", "tg.kernel", program=NEG, differs=False)
    ],
    "remarks_filter": [opt(f"{{flag}}=tg-opt.* {TO_KERNELS}", err=SCHEDULE, program=NEG)],
    "remarks_filter_passed": [opt(f"{{flag}}=tg-optimize {TO_KERNELS}", err=SCHEDULE, program=NEG)],
    "remarks_filter_missed": [
        opt("{flag}=tg-rangeify -p tg-callify,tg-rangeify", err=r"\[Missed\] Fusion", program=TWICE)
    ],
    "remarks_filter_failed": [
        opt(f"{{flag}}=tg-optimize {TO_KERNELS}", program=NEG, differs=False)
    ],
    "remarks_filter_analyse": [
        opt("{flag}=tg-plan -p tg-to-llvm", err=r"\[Analysis\] Arena", program=TWICE)
    ],
    "remark_format": [
        opt(f"{{flag}}=yaml {TO_KERNELS}", program=NEG, file=YAML, differs=False),
    ],
    "remarks_output_file": [
        opt(
            f"{{flag}}=r.yaml --remark-format=yaml {TO_KERNELS}",
            program=NEG,
            file=("r.yaml", YAML[1]),
            differs=False,
        )
    ],
    "print_between_passes": [opt("{flag} -p cse,dce", "addi", err="IR after cse")],
    "mlir_timing": [opt("{flag}", "addi", err="Execution time report")],
    "time_passes": [opt("{flag} -p cse", "addi", err=r"Pass cse took \S+ seconds")],
    "show_dialects": [opt("{flag}", "Available Dialects: .*,tg,")],
    "list_passes": [opt("{flag}", "(?m)^tg-rangeify  +Split each function")],
    "print_irdl": [opt("{flag} tg", "irdl.operation @reduce")],
    "version": [opt("{flag}", r"tg-opt: tgdialect [\d.]+, xdsl [\d.]+")],
}

X = "--input 3xf32=1,2,3"
RUN_EXAMPLES: Mapping[str, Sequence[Example]] = {
    "help": [run("{flag}", "usage: tg-run")],
    "file": [run(X, r"dense<\[-1.0", differs=False)],
    "frontend": [run("{flag} uops " + X, "dense", program=LISTING)],
    "data_folder": [run("{flag} . " + X, "dense", differs=False)],
    "entry": [run("{flag} other --input 4", "2.0, 2.0", program=TWO)],
    "input": [run("{flag} 1,2,3", r"dense<\[-1.0, -2.0, -3.0\]> : tensor<3xf32>")],
    "arg": [run("{flag} x=1,2,3", r"dense<\[-1.0")],
    "target": [Example("file.mlir {flag} interpreter --scalar " + X, NEG, "dense")],
    "check": [Example("file.mlir {flag} " + X, NEG, err="check: the program: 3 elements")],
    "scalar": [run("{flag} " + X, "dense", differs=False)],
    "opt": [Example("file.mlir {flag} none " + X, NEG, "dense", differs=False)],
    "output": [run("{flag} out.npy " + X, file=("out.npy", "NUMPY"), differs=False)],
    "print_full": [
        run("{flag} --input 7", "(-7.0(, )?){2000}", program=NEG.replace("<3x", "<2000x"))
    ],
    "digits": [run("{flag} 3 --input 0.123456", r"-0\.123,")],
    "print_signature": [run("{flag}", r"@main\n  input  0  %x: 3xf32\n  output 0  3xf32\n")],
    "print_memory": [Example("file.mlir {flag}", NEG, "bytes|B")],
    "benchmark": [
        run("{flag} " + X, r"repetitions +\d"),
        run("{flag}=5 " + X, r"repetitions +5\n"),
    ],
    "profile": [
        Example("file.mlir {flag} " + X, NEG, "(?m)^kernel .*time"),
        Example("file.mlir {flag}=plot.svg " + X, NEG, "kernel", file=("plot.svg", "<svg")),
    ],
    "allow_custom": [run("{flag}", r"dense<\[127\]>", program=CUSTOM)],
    "custom": [
        run(
            "{flag} numpy:sqrt --allow-custom --input 4",
            r"%a = dense<2.0> : tensor<f32>",
            program=ROOT,
        ),
    ],
    "run_reproducer": [
        run(
            "{flag}",
            r"dense<\[-1.0, -2.0, -3.0\]>",
            program=NEG
            + '{-# external_resources: { tg_reproducer: { input_0: "3xf32=1,2,3" } } #-}\n',
        )
    ],
    "version": [run("{flag}", r"tg-run: tgdialect [\d.]+, xdsl [\d.]+")],
}


FUNCTIONS = f"{DYNAMIC.replace('@main', '@f')}{DYNAMIC.replace('@main', '@g')}"


def tgx(args: str, program: str = NEG, **more: Any) -> Example:
    return Example(f"file.mlir -o out.tgx {args}", program, **more)


WRITTEN = "out.tgx", "^tgdialect program"

COMPILE_EXAMPLES: Mapping[str, Sequence[Example]] = {
    "help": [Example("{flag}", NEG, "usage: tg-compile")],
    "file": [tgx("", file=WRITTEN, differs=False)],
    "output": [Example("file.mlir {flag} out.tgx", NEG, file=WRITTEN)],
    "frontend": [tgx("{flag} uops", LISTING, file=WRITTEN)],
    "data_folder": [tgx("{flag} .", file=WRITTEN, differs=False)],
    "entry": [tgx("{flag} f {flag} g", FUNCTIONS, file=WRITTEN)],
    "target": [tgx("{flag} opencl", file=("out.tgx", "__kernel"), differs=False)],
    "features": [tgx("{flag} avx3", err="'avx3' is no feature", code=1)],
    "threads": [tgx("{flag} 5000", err="from 1 to 4096", code=2)],
    "opt": [tgx("{flag} beams", err="beams", code=1)],
    "allow_custom": [tgx("{flag}", CUSTOM, file=WRITTEN)],
    "version": [tgx("{flag}", out=r"tg-compile: tgdialect [\d.]+, xdsl [\d.]+")],
}


SUM = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.neg %x : tensor<3xf32>
  %1 = tg.sqrt %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
"""
GREP = "file.mlir --command 'grep -q tg.sqrt'"


def reduced(args: str, out: str = "// Reduced from 2 to 1 ops", **more: Any) -> Example:
    return Example(args, more.pop("program", SUM), out, **more)


REFUSED = "file.mlir -p tg-rangeify"


def bisected(
    args: str, out: str = "action 2: tg-decompose: recipe: tg.neg @main", **more: Any
) -> Example:
    return Example(args, more.pop("program", NEG), out, **more)


NEGATED = "file.mlir -p tg-decompose --command 'grep -q tg.neg'"
"""A command that holds until tg-decompose has run."""
RIGHT = {"err": "the program is right after all passes", "code": 1}
MACHINE_CODE = """func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.neg %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
llvm.func @g() {
  llvm.return
}
"""

BISECT_EXAMPLES: Mapping[str, Sequence[Example]] = {
    "help": [bisected("{flag}", "usage: tg-bisect")],
    "file": [bisected(NEGATED, differs=False)],
    "frontend": [
        bisected(
            "{flag} uops file.mlir -p cse --command 'grep -q tg.nothing'",
            "",
            program=LISTING,
            err="the program is wrong before any pass",
            code=1,
        )
    ],
    "passes": [bisected(NEGATED.replace("-p", "{flag}"), differs=False)],
    "pass_pipeline": [
        bisected(
            NEGATED.replace("-p tg-decompose", "{flag} 'builtin.module(tg-decompose)'"),
            differs=False,
        )
    ],
    "opt": [bisected("file.mlir {flag} none", "", **RIGHT, differs=False)],
    "target": [bisected("file.mlir {flag} opencl", "", **RIGHT, differs=False)],
    "entry": [bisected("file.mlir {flag} g", "", err="there is no function @g", code=1)],
    "input": [bisected("file.mlir {flag} 4xf32=1", "", err="got 4xf32", code=1)],
    "arg": [bisected("file.mlir {flag} n=1", "", err="there is no input 'n'", code=1)],
    "data_folder": [bisected(f"{NEGATED} {{flag}} .", differs=False)],
    "expect": [
        bisected(
            "file.mlir --input 1 {flag} 3xf32=1",
            "",
            err="wrong before any pass: result 0.0.: -1.0, not 1.0",
            code=1,
        )
    ],
    "run_reproducer": [bisected("file.mlir {flag}", "", err="states nothing to run", code=1)],
    "command": [bisected("file.mlir -p tg-decompose {flag} 'grep -q tg.neg'")],
    "if": [bisected("file.mlir -p tg-decompose --command 'grep -c tg.mul' {flag} 'exit == 0'")],
    "if_slower": [
        bisected(
            "file.mlir -p tg-decompose --command 'sh -c \"grep -q tg.neg $0 || sleep 1\"' {flag} 5"
        )
    ],
    "reduce": [bisected("file.mlir {flag} small.mlir", "", **RIGHT, differs=False)],
    "seconds": [bisected("file.mlir --reduce small.mlir {flag} 9", "", **RIGHT, differs=False)],
    "timeout": [
        bisected(
            "file.mlir -p tg-decompose --command 'sh -c \"grep -q tg.neg $0 || sleep 3\"' {flag} 1"
        )
    ],
    "allow_custom": [
        bisected("file.mlir -p cse {flag} --entry f", "", program=MACHINE_CODE, **RIGHT)
    ],
    "allow_external": [
        bisected("file.mlir -p 'mlir-opt{executable=no-such}' {flag}", "mlir-opt: pass")
    ],
    "json": [bisected(f"{NEGATED} {{flag}}", '"pattern": "recipe"')],
    "version": [bisected("{flag}", r"tg-bisect: tgdialect [\d.]+, xdsl [\d.]+")],
}

REDUCE_EXAMPLES: Mapping[str, Sequence[Example]] = {
    "help": [reduced("{flag}", "usage: tg-reduce")],
    "file": [reduced(GREP, differs=False)],
    "frontend": [
        reduced(f"{GREP.replace('sqrt', 'neg')} {{flag}} uops", "to 1 ops", program=LISTING)
    ],
    "passes": [reduced("file.mlir {flag} tg-rangeify --error level", "2 to 0 ops")],
    "entry": [reduced("file.mlir -p cse {flag} g", "", err="there is no function @g", code=1)],
    "input": [reduced("file.mlir -p cse {flag} 4xf32=1", "", err="got 4xf32", code=1)],
    "arg": [reduced("file.mlir -p cse {flag} n=1", "", err="there is no input 'n'", code=1)],
    "target": [reduced("file.mlir {flag} cpu", "", err="results are the same", code=1)],
    "error": [reduced(f"{REFUSED} {{flag}} level", "2 to 0 ops")],
    "command": [reduced("file.mlir {flag} 'grep -q tg.sqrt'")],
    "if": [reduced("file.mlir --command 'grep -c tg.sqrt' {flag} 'exit == 1'", "", code=1)],
    "timeout": [
        reduced(
            "file.mlir --command 'sh -c \"sleep 2; false\"' {flag} 1", "", err="with 124", code=1
        )
    ],
    "seconds": [reduced(f"{GREP} {{flag}} 1000", differs=False)],
    "jobs": [reduced(f"{GREP} {{flag}} 2", differs=False)],
    "output": [
        reduced(f"{GREP} {{flag}} out.mlir", "", file=("out.mlir", "2 to 1 ops"), differs=False)
    ],
    "data_folder": [reduced(f"{GREP} {{flag}} .", differs=False)],
    "allow_external": [
        reduced(
            "file.mlir -p 'mlir-opt{executable=no-such}' --error '' {flag}",
            "Reduced from 2 to 0 ops",
        )
    ],
    "allow_unregistered_dialect": [
        reduced(
            "file.mlir --command 'grep -q odd.op' {flag}",
            "2 to 1 ops",
            program=SUM.replace(
                "tg.sqrt %0 : tensor<3xf32>", '"odd.op"(%0) : (tensor<3xf32>) -> tensor<3xf32>'
            ),
        )
    ],
    "version": [reduced("{flag}", r"tg-reduce: tgdialect [\d.]+, xdsl [\d.]+")],
}


def opt_parser() -> OptParser:
    tool = tg_opt.TgOptMain(["--list-passes"])
    parser = OptParser("tg-opt", tool.available_passes)
    tool.register_all_arguments(parser)
    return parser


PARSERS: Mapping[str, ConsoleParser] = {
    "tg-opt": opt_parser(),
    "tg-run": tg_run.argument_parser(),
    "tg-bisect": tg_bisect.argument_parser(),
    "tg-compile": tg_compile.argument_parser(),
    "tg-reduce": tg_reduce.argument_parser(),
}
MAINS: Mapping[str, Main] = {
    "tg-opt": tg_opt.main,
    "tg-run": tg_run.main,
    "tg-bisect": tg_bisect.main,
    "tg-compile": tg_compile.main,
    "tg-reduce": tg_reduce.main,
}
EXAMPLES = {
    "tg-opt": OPT_EXAMPLES,
    "tg-run": RUN_EXAMPLES,
    "tg-bisect": BISECT_EXAMPLES,
    "tg-compile": COMPILE_EXAMPLES,
    "tg-reduce": REDUCE_EXAMPLES,
}


def actions(tool: str) -> Iterator[Any]:
    yield from PARSERS[tool]._actions  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def execute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs a tool in an empty folder: the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def execute(tool: str, args: Sequence[str], stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        return MAINS[tool](args), *capsys.readouterr()

    return execute


Execute = Callable[..., tuple[int, str, str]]


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", PARSERS)
def test_every_option_has_an_example_and_a_help_text(tool: str):
    assert EXAMPLES[tool].keys() == {action.dest for action in actions(tool)}
    for action in actions(tool):
        assert action.help, action.dest
        if action.choices:  # argparse shows them.
            assert action.metavar is None


CASES = [
    pytest.param(tool, flag, example, id=f"{tool} {flag or action.dest} {number}")
    for tool in PARSERS
    for action in actions(tool)
    for flag in action.option_strings or [""]
    for number, example in enumerate(EXAMPLES[tool].get(action.dest, ()))
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("tool", "flag", "example"), CASES)
def test_an_option_does_what_it_says(tool: str, flag: str, example: Example, execute: Execute):
    if "plot.svg" in example.args:
        pytest.importorskip("matplotlib")
    Path("file.mlir").write_text(example.program)
    words = shlex.split(example.args)
    code, out, err = execute(tool, [word.replace("{flag}", flag) for word in words])
    assert code == example.code, err
    assert re.search(example.out, out), out
    assert re.search(example.err, err), err
    assert "Traceback" not in err
    if example.file is not None:
        name, pattern = example.file
        assert re.search(pattern.encode(), Path(name).read_bytes())
    if example.differs:
        without = execute(tool, [*_without(words, tool, flag)])
        patterns = bool(re.search(example.out, without[1]) and re.search(example.err, without[2]))
        assert without[0] != example.code or not patterns


def _without(words: Sequence[str], tool: str, flag: str) -> Iterator[str]:
    """A command line without an option and its value."""
    takes_next = any(
        flag in action.option_strings and action.nargs != 0 and flag not in PARSERS[tool].bare
        for action in actions(tool)
    )
    rest = iter(words)
    for word in rest:
        if word == "{flag}" and takes_next:
            next(rest)
        elif not word.startswith("{flag}"):
            yield word


# -- the texts below the options -------------------------------------------------------------------

FILES: Mapping[str, Mapping[str, str | Path]] = {
    "tg-run gemm.mlir --input a.npy --input 512x256xf32=random": {"gemm.mlir": LARGE_GEMM},
    "tg-run file.mlir --entry f --arg n=7 --arg x=7xf32=1.5 --target interpreter": {
        "file.mlir": DYNAMIC.replace("@main", "@f")
    },
    "tg-run file.mlir --print-memory --arg n=1000": {"file.mlir": DYNAMIC},
    "tg-compile file.mlir -o file.tgx --entry f --entry g": {"file.mlir": FUNCTIONS},
    "tg-reduce file.mlir -p canonicalize,cse --entry f --input 2 -o out.mlir": {"file.mlir": ADD},
    "tg-bisect file.mlir -p canonicalize,cse --entry f --input 2 --reduce small.mlir": {
        "file.mlir": ADD
    },
    "tg-bisect model.py:forward --input 8x512xf32=random": {
        "model.py": "def forward(x):\n    return x.relu()\n"
    },
}
"""The files of the examples that do not take the program below."""
PROGRAM = NEG.replace("<3x", "<8x512x")
PIPED = NEG


def epilog(tool: str) -> Mapping[str, Sequence[str]]:
    """The lines below each title of the text below the options, without those that go on."""
    sections: dict[str, list[str]] = {}
    for line in (PARSERS[tool].epilog or "").splitlines():
        if line.endswith(":") and not line.startswith(" "):
            sections[line[:-1]] = []
        elif line.startswith("  ") and not line.startswith("   "):
            [*sections.values()][-1].append(line[2:])
    return sections


def examples(tool: str) -> Sequence[str]:
    return epilog(tool)["examples"]


@pytest.mark.parametrize("line", [line for tool in PARSERS for line in examples(tool)])
def test_an_example_succeeds(line: str, execute: Execute):
    if "nvidia" in line and ptxas() is None:
        pytest.skip("ptxas is not installed")
    if "plot.svg" in line:
        pytest.importorskip("matplotlib")
    if line.startswith("mpiexec"):
        pytest.importorskip("mpi4py")
        pytest.skip("test_distributed.py runs mpiexec")
    np.save("a.npy", np.ones((8, 512), np.float32))
    for name, text in FILES.get(line, {"file.mlir": PIPED if "|" in line else PROGRAM}).items():
        Path(name).write_text(text if isinstance(text, str) else text.read_text())
    before, out = set(os.listdir()), ""
    for command in line.split(" | "):
        tool, *args = shlex.split(command)
        code, out, err = execute(tool, args, out)
        if "nothing to reduce" in err or "is right" in err:  # The passes of an example are.
            return
        assert (code, "error" in err) == (0, False), err
    written = {
        word for word in shlex.split(line) if re.fullmatch(r"file\.(?:ll|so|tgx)|out\.npy", word)
    }
    assert out or written
    assert written <= set(os.listdir()) - before


TERMS: Mapping[str, tuple[str, Sequence[str], str]] = {
    "a.npy, data.npz:name": (NEG, ["--input", "a.npy"], r"-1.0, -1.0, -1.0"),
    "2x3xf32=1,2,3,4,5,6": ("2x3", ["--input", "2x3xf32=1,2,3,4,5,6"], r"\[-4.0, -5.0, -6.0\]"),
    "2x3xf32=0.5": ("2x3", ["--input", "2x3xf32=0.5"], "(-0.5.*){6}"),
    "2x3xf32=random(7)": ("2x3", ["--input", "2x3xf32=random(7)"], "2x3xf32"),
    "1,2,3  or  7": (NEG, ["--input", "7"], "-7.0, -7.0, -7.0"),
    "'dense<[1.0]> : tensor<1xf32>'": ("1", ["--input", "dense<[1.0]> : tensor<1xf32>"], "-1.0"),
    "heuristic": ("64", ["--input=1", "--opt=heuristic"], "-1.0"),
    "heuristic:tf32": ("64", ["--input=1", "--opt=heuristic:tf32"], "-1.0"),
    "none": ("64", ["--input=1", "--opt=none"], "-1.0"),
    "beam:4": (NEG, ["--input=1", "--opt=beam:4"], "-1.0"),
    "'explicit:split 0, 8, upcast; @main_1: order 1, 0'": (
        "64",
        ["--input=1", "--opt=explicit:split 0, 8, upcast; @main_0: order 1, 0"],
        "-1.0",
    ),
    "cpu": (NEG, ["--input=1", "--target=cpu"], "-1.0"),
    "opencl": (NEG, ["--input=1", "--target=opencl"], "-1.0"),
    "nvidia:sm_90, ...": (NEG, ["--input=1", "--target=nvidia:sm_90"], "-1.0"),
    "CL:1, CUDA:0": (NEG, ["--input=1", "--target=CL:0"], "-1.0"),
    "interpreter": (NEG, ["--input=1", "--target=interpreter"], "-1.0"),
    "mpi": (NEG, ["--input=1", "--target=mpi"], "-1.0"),
}
"""For what the text explains: a program, or the shape of one, arguments, and a pattern of the
output; a device that is not there is one error that says what to install."""


def test_every_term_is_tested():
    # The other sections are prose.
    tables = [lines for lines in epilog("tg-run").values() if "   " in lines[0]]
    lines = [line for table in tables for line in table]
    assert {
        re.split(r"   +|  (?=a literal|deterministic)", line)[0] for line in lines
    } == TERMS.keys()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("term", TERMS)
def test_a_term_means_what_it_says(term: str, execute: Execute):
    program, args, pattern = TERMS[term]
    if not program.startswith("func"):
        program = NEG.replace("<3x", f"<{program}x")
    Path("file.mlir").write_text(program)
    np.save("a.npy", np.ones(3, np.float32))
    code, out, err = execute("tg-run", ["file.mlir", *args])
    target = args[-1].partition("=")[2]
    kind = {"opencl": "CL", "CL:0": "CL", "nvidia:sm_90": "CUDA", "mpi": "MPI"}.get(target)
    if kind is not None and code:
        assert len(err.splitlines()) == 1
        assert "Traceback" not in err
        assert not any(device.name.startswith(kind) for device in DEVICES) or kind == "CUDA"
        return
    assert (code, err) == (0, "")
    assert re.search(pattern, out)
