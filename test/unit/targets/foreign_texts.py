"""Random texts that were made for other machines, and what becomes of them here, in forks.

A text is a program, a target with random features, and the stages that it has been through for that
target. Executed here it is right, or one located error; printed as assembly for any processor it is
text, or one error. It never ends the process.
"""

from __future__ import annotations

import gc
import json
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from example_files import WITHOUT_CUSTOM
from xdsl.context import Context

import tgdialect as tg
from tgdialect.diagnostics import CompilationError, parse_module, verify_module
from tgdialect.diagnostics.diagnostic import SourceFile
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.registry import make_context
from tgdialect.tools.tg_opt import TgOptMain
from tgdialect.tools.tg_run import main as tg_run
from tgdialect.tools.tg_run_session import find_entry, find_parameters

X86 = (
    *("sse", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "fma", "f16c", "bmi2"),
    *("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512bf16", "avx512vnni", "avx512fp16"),
    *("amx-tile", "amx-bf16", "amx-int8", "amx-fp16", "avxvnni", "avx10.1", "avx10.2", "xop"),
)
ARM = "neon", "fp-armv8", "fullfp16", "dotprod", "i8mm", "sve", "sve2", "bf16"
NONSENSE = "avx1024", "neon2", "", "+", "amx", "-"
CPUS = (
    *("haswell", "nehalem", "skylake-avx512", "sapphirerapids", "znver4", "x86-64-v3", "generic"),
    *("nonsense", "i386", "apple-m1", "neoverse-n1", "cortex-a72", "knl", "pentium4"),
)
TRIPLES = (
    "",
    "",
    "",
    "",
    "",
    "",
    "x86_64-unknown-linux-gnu",
    "aarch64-linux-gnu",
    "riscv64-linux-gnu",
    "x86_64",
)

INSERTED = (
    'llvm.inline_asm has_side_effects "vpxord %zmm17, %zmm17, %zmm17", "" : () -> ()',
    'llvm.inline_asm has_side_effects "tilerelease", "" : () -> ()',
    'llvm.inline_asm has_side_effects "vfmadd231ps %ymm0, %ymm1, %ymm2", "" : () -> ()',
    'llvm.inline_asm has_side_effects "vpdpbusd %ymm0, %ymm1, %ymm2", "" : () -> ()',
    'llvm.inline_asm has_side_effects "vaddph %xmm0, %xmm1, %xmm2", "" : () -> ()',
    'llvm.inline_asm has_side_effects "fmla v0.4s, v1.4s, v2.4s", "" : () -> ()',
    'llvm.inline_asm has_side_effects "nop", "=x" : () -> i32',
    'llvm.inline_asm has_side_effects "nop", "v,~{zmm31}" %q : (vector<16xf32>) -> ()',
    'llvm.call_intrinsic "llvm.x86.avx512.rcp14.ps.512"(%q, %q, %m) : '
    "(vector<16xf32>, vector<16xf32>, i16) -> vector<16xf32>",
    'llvm.call_intrinsic "llvm.x86.tilerelease"() : () -> ()',
    'llvm.call_intrinsic "llvm.x86.sse.rsqrt.ps"(%s) : (vector<4xf32>) -> vector<4xf32>',
    'llvm.call_intrinsic "llvm.x86.avx.rcp.ps.256"(%s) : (vector<4xf32>) -> vector<4xf32>',
    'llvm.call_intrinsic "llvm.aarch64.neon.fmax.v4f32"(%s, %s) : '
    "(vector<4xf32>, vector<4xf32>) -> vector<4xf32>",
    'llvm.call_intrinsic "llvm.x86.nonsense"() : () -> ()',
    "llvm.fadd %q, %q : vector<16xf32>",
)
"""Lines for the beginning of a function of the `llvm` dialect, behind `OPERANDS`."""
OPERANDS = """
  %q = llvm.mlir.constant(dense<1.0> : vector<16xf32>) : vector<16xf32>
  %s = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
  %m = llvm.mlir.constant(3 : i16) : i16
  """
ATTRIBUTES = (
    'passthrough = [["target-cpu", "sapphirerapids"]]',
    'passthrough = [["target-features", "+avx512f,+avx512vl"]]',
    'passthrough = ["noinline", ["target-features", "-64bit"]]',
    'target_cpu = "skylake-avx512"',
    'target_features = #llvm.target_features<["+avx512f", "+amx-bf16"]>',
    'tune_cpu = "nonsense"',
    'passthrough = ["nonsense"]',
)


class Case(NamedTuple):
    """A text, and how it is used. `program` is its name in `programs`."""

    program: str
    target: str
    mode: str
    stages: int
    changed: str
    how: str


def cases(seed: int, count: int) -> Iterator[Case]:
    """Random cases, the same for a seed everywhere."""
    rng = random.Random(seed)
    names = sorted(programs())
    products = [name for name in names if name.startswith("product")]
    for _ in range(count):
        target = f'"cpu"{_features(rng)}{_fields(rng)}'
        changed = rng.choice((*INSERTED, *ATTRIBUTES)) if rng.random() < 0.25 else ""
        yield Case(
            rng.choice(products if rng.random() < 0.3 else names),
            target,
            rng.choice(("heuristic", "heuristic", "heuristic", "none")),
            8 if changed else rng.randrange(9),
            changed,
            rng.choice(("cpu",) * 8 + ("tg-run",) * 2 + ("c",) + (_assembly(rng),) * 4),
        )


def _features(rng: random.Random) -> str:
    if rng.random() < 0.05:
        return ""
    known = rng.choice((X86, X86, X86, X86, ARM, (*X86, *ARM)))
    names = rng.sample(known, min(rng.choice((0, 1, 1, 2, 3, 6, 12)), len(known)))
    if rng.random() < 0.2:
        names += ["amx-bf16", "avx512vl", "avx512bf16"]
    if rng.random() < 0.1:
        names = [rng.choice(("+", "-")) + name for name in names]
    if rng.random() < 0.05:
        names.append(rng.choice(NONSENSE))
    return f", features = {json.dumps(names)}"


def _fields(rng: random.Random) -> str:
    fields = (
        *(", threads = 1", ", threads = 2", ', matrix = ["amx.m32n32k32.bf16"]'),
        ", vector_bits = 512, vector_registers = 32",
    )
    return rng.choice(fields) if rng.random() < 0.3 else ""


def _assembly(rng: random.Random) -> str:
    """A target of tg-opt that prints assembly, with random options."""
    options = {
        "triple": rng.choice(TRIPLES),
        "cpu": rng.choice(("", *CPUS)),
        "features": ",".join("+" + name for name in rng.sample((*X86, *ARM), rng.randrange(3))),
    }
    given = " ".join(f'{name}="{value}"' for name, value in options.items() if value)
    return f"asm{{{given}}}" if given else "asm"


# -- programs ------------------------------------------------------------------------------------


@cache
def programs() -> dict[str, str]:
    """Programs at the level of tensors, by their names."""
    found = {path.stem: path.read_text() for path in WITHOUT_CUSTOM if path.stem != "threefry"}
    for dtype, m, k, n in (
        *(("bf16", 64, 64, 64), ("bf16", 33, 40, 50), ("f16", 32, 32, 32), ("f32", 32, 24, 40)),
        ("f64", 17, 8, 16),
    ):
        found[f"product of {dtype} {m}x{k}x{n}"] = _product(dtype, m, k, n)
    rng = random.Random(0)
    for i in range(40):
        found[f"random {i}"] = _random(rng)
    return found


def _product(dtype: str, m: int, k: int, n: int) -> str:
    narrow = dtype in ("bf16", "f16")
    to = "f32" if narrow else dtype
    shapes = {"a": f"{m}x{k}x1", "b": f"1x{k}x{n}"}
    a, b = (f"tensor<{shape}x{dtype}>" for shape in shapes.values())
    lines = [
        f"%a = tg.reshape %x [{m}, {k}, 1] : tensor<{m}x{k}x{dtype}> -> {a}",
        f"%b = tg.reshape %y [1, {k}, {n}] : tensor<{k}x{n}x{dtype}> -> {b}",
    ]
    names = {"a": "a", "b": "b"}
    if narrow:
        for name, shape in shapes.items():
            names[name] = f"{name}w"
            source, wide = f"tensor<{shape}x{dtype}>", f"tensor<{shape}x{to}>"
            lines.append(f"%{name}w = tg.cast %{name} to {to} : {source} -> {wide}")
    types = ", ".join(f"tensor<{shape}x{to}>" for shape in shapes.values())
    whole = f"tensor<{m}x{k}x{n}x{to}>"
    result = f"tensor<{m}x{n}x{to}>"
    lines += [
        f"%p = tg.mul %{names['a']}, %{names['b']} : ({types}) -> {whole}",
        f"%s = tg.reduce add %p [1] : {whole} -> tensor<{m}x1x{n}x{to}>",
        f"%r = tg.reshape %s [{m}, {n}] : tensor<{m}x1x{n}x{to}> -> {result}",
        f"return %r : {result}",
    ]
    arguments = f"%x: tensor<{m}x{k}x{dtype}>, %y: tensor<{k}x{n}x{dtype}>"
    return _function(arguments, result, lines)


def _random(rng: random.Random) -> str:
    """A chain of elementwise ops, casts and reductions."""
    m, n, dtype = rng.choice((1, 7, 16, 33)), rng.choice((1, 5, 16, 64)), "f32"
    lines: list[str] = []
    value, shape = "%x", f"{m}x{n}"
    for i in range(rng.randint(1, 6)):
        type = f"tensor<{shape}x{dtype}>"
        kind = rng.choice(("unary", "unary", "binary", "cast", "max", "reduce"))
        if kind == "unary":
            op = rng.choice(("exp2", "exp2", "exp", "sin", "log2", "neg", "expm1", "sqrt"))
            lines.append(f"%{i} = tg.{op} {value} : {type}")
        elif kind == "binary":
            op = rng.choice(("add", "mul", "sub"))
            lines.append(f"%{i} = tg.{op} {value}, {value} : {type}")
        elif kind == "cast":
            to = rng.choice(("f16", "bf16", "f64", "f32"))
            lines.append(f"%{i} = tg.cast {value} to {to} : {type} -> tensor<{shape}x{to}>")
            dtype = to
        elif kind == "max":
            lines.append(f"%{i} = tg.max {value}, {value} : {type}")
        else:
            after = f"{m}x1"
            op = rng.choice(("add", "max"))
            lines.append(f"%{i} = tg.reduce {op} {value} [1] : {type} -> tensor<{after}x{dtype}>")
            shape = after
        value = f"%{i}"
    result = f"tensor<{shape}xf32>"
    lines.append(f"%r = tg.cast {value} to f32 : tensor<{shape}x{dtype}> -> {result}")
    return _function(f"%x: tensor<{m}x{n}xf32>", result, [*lines, f"return %r : {result}"])


def _function(arguments: str, result: str, lines: Sequence[str]) -> str:
    body = "\n  ".join(lines)
    return f"func.func @main({arguments}) -> {result} {{\n  {body}\n}}\n"


@cache
def inputs_and_result(name: str) -> tuple[Sequence[Any], Any]:
    """Inputs of a program, and what the interpreter computes."""
    module = _parsed(programs()[name])
    parameters = list(find_parameters(find_entry(module, None)))
    extent = (*(parameters[0].type.get_shape() if parameters else ()), 10)[0]
    rng = np.random.default_rng(0)
    inputs: list[Any] = []
    for parameter in parameters:
        shape, dtype = parameter.type.get_shape(), numpy_dtype(parameter.dtype)
        floats = parameter.dtype.is_float
        values = rng.standard_normal(shape) if floats else rng.integers(0, extent, shape)
        inputs.append(np.asarray(values).astype(dtype))
    return inputs, run(module, "main", inputs)[0]


def _parsed(text: str) -> Any:
    module = parse_module(make_context(), SourceFile("<string>", text))
    verify_module(module)
    return module


# -- what becomes of them ------------------------------------------------------------------------


def text_of(case: Case) -> str:
    """The text, as another machine would have written it. Raises CompilationError if the target or
    the schedule cannot be."""
    program = programs()[case.program].replace("builtin.module", "module")
    if "module attributes" in program:  # The tour says a target of its own.
        program = re.sub(r"#tg\.target<.*?>(?=})", f"#tg.target<{case.target}>", program)
    else:
        attributes = f"attributes {{tg.target = #tg.target<{case.target}>}}"
        program = f"module {attributes} {{\n{program}\n}}"
    module = _parsed(program)
    for stage in [*stages(mode=case.mode)][: case.stages]:
        stage.apply(Context(), module)
    return _changed(str(module), case.changed)


def _changed(text: str, change: str) -> str:
    if change in ATTRIBUTES:
        return _with_attribute(text, change)
    if change:

        def inserted(match: re.Match[str]) -> str:
            result = "" if change.endswith("-> ()") else "%z = "
            return f"{match[0]}{OPERANDS}{result}{change}\n"

        return re.sub(r"llvm\.func @main\(.*\{\n", inserted, text, count=1)
    return text


def _with_attribute(text: str, attribute: str) -> str:
    def added(match: re.Match[str]) -> str:
        head = match[0].removesuffix("{\n").rstrip()
        if head.endswith("}") and " attributes {" in head:
            return f"{head[:-1]}, {attribute}}} {{\n"
        return f"{head} attributes {{{attribute}}} {{\n"

    return re.sub(r"llvm\.func @.*\{\n", added, text)


def outcome(case: Case) -> str:
    """`right`, or the message of an error. Raises AssertionError for anything else."""
    try:
        text = text_of(case)
    except CompilationError as error:
        return str(error)
    except Exception as error:
        if type(error).__module__.startswith(("xdsl.", "tgdialect.")):
            return f"not written: {error}"
        raise
    inputs, expected = inputs_and_result(case.program)
    if case.how.startswith("asm"):
        return _tool(TgOptMain.main, ["-p", _rest(text, case), "-t", case.how], text)
    if case.how == "tg-run":
        return _tg_run(text, inputs, expected)
    try:
        compiled = tg.compile(text, target=case.how, allow_custom=True)
    except CompilationError as error:
        return _one_error(str(error), "<string>")
    _compare(compiled(*inputs), expected)
    return "right"


def _rest(text: str, case: Case) -> str:
    """The passes that are left until level `llvm`."""
    return ",".join(
        str(stage.pipeline_pass_spec()) for stage in [*stages(mode="none")][case.stages :]
    )


def _tool(main: Callable[[list[str]], int], options: Sequence[str], text: str) -> str:
    """The outcome of a tool for a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.mlir")
        Path(path).write_text(text)
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([path, *options])
        assert code in (0, 1), (code, err.getvalue())
        return "right" if code == 0 else _one_error(err.getvalue(), path)


def _tg_run(text: str, inputs: Sequence[Any], expected: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        options: list[str] = ["--allow-custom", "--output", f"{folder}/out.npy"]
        for i, array in enumerate(inputs):
            narrow = array.dtype.kind == "V" or array.dtype.name == "bfloat16"
            np.save(f"{folder}/{i}.npy", array.view(np.uint16) if narrow else array)
            options += ["--input", f"{folder}/{i}.npy"]
        if (said := _tool(tg_run, options, text)) == "right":
            _compare(np.load(f"{folder}/out.npy"), expected)
        return said


def _one_error(message: str, file: str) -> str:
    where = rf"{re.escape(file)}:\d+:\d+: error: "
    assert re.match(where, message), message
    assert len(re.findall(where, message)) == 1 or "LLVM rejects" in message, message
    assert "Traceback" not in message, message
    return message


def _compare(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(
        np.asarray(found, np.float64), np.asarray(expected, np.float64), rtol=2e-2, atol=2e-2
    )


def outcomes(given: Sequence[Case]) -> Iterator[tuple[Case, str]]:
    """Each case with its outcome, or what has ended the process, beginning with `ended`."""
    left = list(given)
    while left:
        done = _in_fork(left[:100])
        yield from zip(left, done, strict=False)
        left = left[len(done) :]


def _in_fork(given: Sequence[Case]) -> list[str]:
    """The outcomes of the first cases, in one child: up to the one that has ended it."""
    with tempfile.TemporaryFile("w+") as results, tempfile.TemporaryFile("w+") as said:
        gc.collect()
        if (child := os.fork()) == 0:
            try:
                os.environ["TG_CACHE_DIR"] = ""
                os.dup2(said.fileno(), 2)
                for case in given:
                    try:
                        found = outcome(case)
                    except BaseException as error:
                        found = f"ended: {type(error).__name__}: {error}"
                    results.write(json.dumps(found) + "\n")
                    results.flush()
            finally:
                os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        results.seek(0)
        done = [json.loads(line) for line in results]
        if len(done) < len(given):
            said.seek(0)
            done.append(f"ended: status {status}: {said.read()[-500:]}")
        return done
