"""Texts that want something other than to be compiled: names that are code in some output language,
texts that grow when they are expanded, deep nests, attributes of wrong kinds and sizes, and valid
programs with bytes and lines changed. `hostile_text(seed)` makes one, of at most 20 kB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

_FILECHECK = Path(__file__).parents[2] / "filecheck"
LIMIT = 20_000
"""The greatest length of a text, in characters."""
CANARY = "pwned"
"""The file that a text creates if any of it is executed as a shell's or C's code."""


@dataclass(frozen=True)
class Hostile:
    """A text, what kind of attack it is, and the format that it is in: `mlir` or `uops`."""

    kind: str
    text: str
    format: str = "mlir"


def hostile_text(seed: int) -> Hostile:
    """The hostile text of a seed."""
    random = Random(seed)
    kind, make = random.choices(_KINDS, [weight for *_, weight in _WEIGHTED])[0]
    made = make(random)
    text, form = made if isinstance(made, tuple) else (made, "mlir")
    return Hostile(kind, text[:LIMIT], form)


# -- names -----------------------------------------------------------------------------------------

_SHELL = f"echo x > {CANARY}"
_CODE = (
    f'system("{_SHELL}"); (void)sizeof',
    f'x(){{}} __attribute__((constructor)) void evil(){{system("{_SHELL}");}} int y',
    f"a; {_SHELL}; b",
    f"$({_SHELL})",
    f"`{_SHELL}`",
    f"x*/ system(\"{_SHELL}\"); /*",
    f'x\nint evil = system("{_SHELL}");\n',
    f'x\\\n"); system("{_SHELL}'.replace('"', '"'),
    "x??/\nint y = 1;",
    '#include "/etc/passwd"',
    '\n#include "/etc/passwd"\n',
    '\n#line 1 "x"\n#error evil\n',
    "x\n.globl main\nmain: hlt\n",
    "x: .byte 0xcc\n",
    '"\n.incbin "/etc/passwd"\n',
    "} .visible .entry evil() { trap; }",
    "@evil = global i32 0",
    'a" { ret void } define void @"evil',
    "%s%s%n%n",
    "../../../../tmp/pwned",
    "/etc/passwd",
    "-o/etc/pwned",
    "-fplugin=evil.so",
    "\0",
    "a\0b",
    "",
    " ",
    ".",
    "..",
    "a.b",
    "a_b",
    "a-b",
    "0",
    "9lives",
    "_",
    "__",
    "$",
    "é",
    "e\u0301",
    "日本",
    "\U0001f600",
    "\u202e",
    "\u200b",
    "\x1b[31m",
    "\x7f",
    "\ufeffx",
    "a" * 5000,
)
_WORDS = tuple(
    """
    int float double char void bool half if else for while do return switch case break goto sizeof
    static inline const volatile restrict struct union enum typedef auto register extern signed long
    asm _Bool _Atomic INFINITY NAN NULL EOF errno assert true false main abort exit malloc free memcpy memset
    printf system sin cos exp exp2 log2 sqrt fma fabs trunc fmax isnan ldexp __builtin_trap
    __attribute__ __asm__ __FILE__ __LINE__ __func__ linux unix i386 M_PI CHAR_BIT INT_MIN
    INT32_MAX int8_t uint64_t size_t FLT_MAX SIZE_MAX kernel global local constant private device
    thread threadgroup __kernel __global __local __private uchar uint ulong float4 half2 vload4 image2d_t sampler_t
    event_t barrier get_global_id get_local_id as_float convert_int4 native_sin mad clamp select
    threadIdx blockIdx blockDim gridDim warpSize __global__ __shared__ __syncthreads __shfl_sync
    __half __nv_bfloat16 __nv_fp8_e4m3 atomicAdd make_float4 float16 bfloat16_t metal simdgroup using namespace class template
    this new delete operator virtual try catch throw typename constexpr nullptr decltype and or not
    xor bitand compl alignas alignof wchar_t define declare entry target datalayout undef poison
    rax eax xmm0 st0 rsp ptr byte word offset flat .reg .entry tid ntid ctaid WARP_SZ r0 f0 rd0
    _start _init __tg tg_parallel llvm.memcpy.p0.p0.i64 llvm.trap llvm.sin.f32 llvm.used .text .L0 LBB0_1
    data0 data1 gidx0 lidx0 acc0 alu0 val0 ridx0 temp0 x0 v0
    """.split()
)
_VALUE_NAMES = (*(w for w in _WORDS if re.fullmatch(r"[A-Za-z_.$][\w.$-]*", w)), *"_ __ _1 $ . - a-b a.b $$ _$.-".split())


def _quoted(name: str) -> str:
    """A string literal of MLIR."""
    plain = "".join(
        c if c.isprintable() and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode())
        for c in name
    )
    return f'"{plain}"'


def _name(random: Random) -> str:
    name = random.choice(_CODE if random.randrange(2) else _WORDS)
    if random.randrange(4) == 0:
        name += random.choice(_CODE if random.randrange(2) else _WORDS)
    return name[:6000]


def _value(random: Random) -> str:
    """The name of a value, which MLIR writes without quotes."""
    return random.choice(_VALUE_NAMES)


def _names(random: Random) -> str:
    kernel, function, unused = (_quoted(_name(random)) for _ in range(3))
    names = random.sample(_VALUE_NAMES, 9)
    o, i, c, r, v, p, s, a, w = (f"%{n}" for n in names)
    b, result = (f"%{n}" for n in random.sample(_VALUE_NAMES, 2))
    at = ""
    if random.randrange(2):
        place = _quoted(_name(random))
        at = random.choice(
            (
                f" loc({place})",
                f" loc({place}:{random.choice((0, 1, 7, 2**31, 2**63))}:{random.randrange(99)})",
                f" loc({place}({_quoted(_name(random))}:3:4))",
                f" loc(fused<{place}>[{place}, unknown])",
                f" loc(callsite({place} at {place}:1:2))",
            )
        )
    g, t = "tensor<4xf32, #tg.place<global>>", 'tensor<4xf32, #tg.place<"CPU", global>>'
    e = "tensor<f32, #tg.place<global>>"
    entry = "main" if random.randrange(3) else f"{function}"
    module = random.choice(("", "", f"module @{unused} ", f"module attributes {{{unused} = {unused}}} "))
    number = random.choice(("1.0", "nan", "inf", "-inf", "-0.0", "1.0e-45"))
    text = f"""\
tg.kernel @{kernel} {{
  {o} = tg.param 0 : {g}{at}
  {i} = tg.param 1 : {g}
  {c} = tg.const 4 : tensor<index>
  {r} = tg.range 0 loop to {c} : tensor<index>{at}
  {v} = tg.const {number} : tensor<f32>
  {w} = tg.index {i}[{r}] : ({g}, tensor<index>) -> {e}
  {a} = tg.add {w}, {v} : ({e}, tensor<f32>) -> tensor<f32>{at}
  {p} = tg.index {o}[{r}] : ({g}, tensor<index>) -> {e}
  {s} = tg.store {p}, {a} : {e}, tensor<f32>
  %end = tg.end {s} over {r} : !tg.void
  %sink = tg.sink %end : !tg.void
}}
func.func @{entry}({b}: {t}{" {tg.name = " + unused + "}" if random.randrange(4) == 0 else ""}) -> tensor<4xf32, #tg.place<"CPU">> {{
  %memory = tg.buffer 0 : {t}
  %called = tg.call @{kernel}(%memory, {b}) : ({t}, {t}) -> !tg.void{at}
  %after = tg.after %memory, %called : ({t}, !tg.void) -> {t}
  {result} = tg.load %after : {t} -> tensor<4xf32, #tg.place<"CPU">>
  return {result} : tensor<4xf32, #tg.place<"CPU">>
}}
"""
    return f"{module}{{\n{text}}}\n" if module else text


def _tensor_names(random: Random) -> str:
    """A program on tensors: kernels and their values get names from it."""
    function, unused = _quoted(_name(random)), _quoted(_name(random))
    x, y, z, w = (f"%{n}" for n in random.sample(_VALUE_NAMES, 4))
    at = f" loc({_quoted(_name(random))}:1:1)" if random.randrange(2) else ""
    entry = "main" if random.randrange(3) else function
    device = random.choice(('"CPU"', '"CPU"', unused, '"CPU:99"', '"CL:0"', '"CUDA:0;x"'))
    place = f", #tg.place<{device}>" if random.randrange(3) == 0 else ""
    t = f"tensor<4x4xf32{place}>"
    return f"""\
func.func @{entry}({x}: {t}{at}, {y}: {t}) -> {t} {{
  {z} = tg.mul {x}, {y} : {t}{at}
  {w} = tg.exp2 {z} : {t}
  return {w} : {t}
}}
"""


# -- texts that grow -------------------------------------------------------------------------------


def _doubled(random: Random) -> str:
    """A chain of ops whose result is used twice by the next."""
    depth, dtype = random.choice((10, 20, 40, 60)), random.choice(("f32", "i32", "i1", "bf16"))
    shape = random.choice(("4", "2x2", "1"))
    t = f"tensor<{shape}x{dtype}>"
    lines: list[str] = []
    last = "%x"
    ops = [o for o in ("add", "mul", "max", "cmplt", "where") if dtype != "i1" or o != "cmplt"]
    op = random.choice([*ops, "index", "stack", "pad", "concat", "permuted", "call"])
    for n in range(depth):
        new = f"%v{n}"
        match op:
            case "index":
                t = "tensor<4xi32>"
                lines.append(f"{new} = tg.index {last}[{last}] : ({t}, {t}) -> {t}")
            case "where":
                c = "tensor<" + t.removeprefix("tensor<").rsplit("x", 1)[0] + "xi1>"
                lines.append(f"%c{n} = tg.cmpne {last}, {last} : ({t}, {t}) -> {c}")
                lines.append(f"{new} = tg.where %c{n}, {last}, {last} : ({c}, {t}, {t}) -> {t}")
            case "cmplt":
                c = "tensor<" + t.removeprefix("tensor<").rsplit("x", 1)[0] + "xi1>"
                lines.append(f"%c{n} = tg.cmplt {last}, {last} : ({t}, {t}) -> {c}")
                lines.append(f"{new} = tg.cast %c{n} to {dtype} : {c} -> {t}")
            case "stack":
                t = f"tensor<4x{dtype}>"
                u = f"tensor<2x4x{dtype}>"
                lines.append(f"%s{n} = tg.stack {last}, {last} : ({t}, {t}) -> {u}")
                kind = "max" if dtype != "i1" else "add"
                lines.append(f"%m{n} = tg.reduce {kind} %s{n} [0] : {u} -> tensor<1x4x{dtype}>")
                lines.append(f"{new} = tg.reshape %m{n} [4] : tensor<1x4x{dtype}> -> {t}")
            case "pad" | "concat":
                t = f"tensor<4x{dtype}>"
                lines.append(f"%p{n} = tg.pad {last} at [1] to [6] : {t} -> tensor<6x{dtype}>")
                lines.append(f"%q{n} = tg.shrink %p{n} at [2] to [4] : tensor<6x{dtype}> -> {t}")
                lines.append(f"{new} = tg.add %q{n}, {last} : {t}")
            case "permuted":
                t = f"tensor<2x2x{dtype}>"
                lines.append(f"%p{n} = tg.permute {last} [1, 0] : {t}")
                lines.append(f"{new} = tg.add %p{n}, {last} : {t}")
            case "call":
                lines.append(f"%f{n} = tg.function({last}, {last}) {{")
                lines.append(f"  %0 = tg.param 0 : {t}\n  %1 = tg.param 1 : {t}")
                lines.append(f"  %2 = tg.add %0, %1 : {t}\n  %3 = tg.tuple %2 : {t} -> !tg.tuple<{t}>")
                lines.append(f"}} : ({t}, {t}) -> !tg.tuple<{t}>")
                lines.append(f"{new} = tg.gettuple %f{n} 0 : !tg.tuple<{t}> -> {t}")
            case _:
                lines.append(f"{new} = tg.{op} {last}, {last} : {t}")
        last = new
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @main(%x: {t}) -> {t} {{\n{body}  return {last} : {t}\n}}\n"


def _called_twice(random: Random) -> str:
    """Functions of which each calls the one before twice."""
    t, depth = "tensor<4xf32>", random.choice((5, 15, 25, 40))
    text = f"func.func private @f0(%x: {t}) -> {t} {{\n  %a = tg.sin %x : {t}\n  return %a : {t}\n}}\n"
    for n in range(1, depth):
        text += (
            f"func.func private @f{n}(%x: {t}) -> {t} {{\n"
            f"  %a = tg.call @f{n - 1}(%x) : ({t}) -> !tg.tuple<{t}>\n"
            f"  %b = tg.gettuple %a 0 : !tg.tuple<{t}> -> {t}\n"
            f"  %c = tg.call @f{n - 1}(%b) : ({t}) -> !tg.tuple<{t}>\n"
            f"  %d = tg.gettuple %c 0 : !tg.tuple<{t}> -> {t}\n  return %d : {t}\n}}\n"
        )
    return text + (
        f"func.func @main(%x: {t}) -> {t} {{\n  %a = tg.call @f{depth - 1}(%x) : ({t}) -> !tg.tuple<{t}>\n"
        f"  %b = tg.gettuple %a 0 : !tg.tuple<{t}> -> {t}\n  return %b : {t}\n}}\n"
    )


_SIZES = (0, 1, 7, 1000, 16384, 2**20, 2**31, 2**32 + 1, 2**62, 2**63 - 1, 2**64, 10**30)


def _wide_kernel(random: Random) -> str:
    """A kernel with ranges of great extents and of any kind."""
    count = random.choice((1, 2, 3, 8, 40))
    extents = [random.choice(_SIZES[1:8] if random.randrange(4) else _SIZES) for _ in range(count)]
    total = 1
    for extent in extents:
        total *= extent
    kinds = ("loop", "upcast", "unroll", "global", "local", "thread", "warp", "group_reduce", "reduce")
    g = f"tensor<{random.choice((total, 16384, 2**40))}xf32, #tg.place<global>>"
    lines = [f"%o = tg.param 0 : {g}", "%v = tg.const 1.0 : tensor<f32>"]
    position = None
    for n, extent in enumerate(extents):
        lines.append(f"%c{n} = tg.const {extent} : tensor<index>")
        lines.append(f"%r{n} = tg.range {n} {random.choice(kinds)} to %c{n} : tensor<index>")
        if position is None:
            position = f"%r{n}"
        else:
            lines.append(f"%m{n} = tg.mul {position}, %c{n} : tensor<index>")
            lines.append(f"%a{n} = tg.add %m{n}, %r{n} : tensor<index>")
            position = f"%a{n}"
    lines.append(f"%p = tg.index %o[{position}] : ({g}, tensor<index>) -> tensor<f32, #tg.place<global>>")
    lines.append("%s = tg.store %p, %v : tensor<f32, #tg.place<global>>, tensor<f32>")
    ranges = ", ".join(f"%r{n}" for n in range(count))
    opts = ""
    if random.randrange(2):
        options = (
            f"split {random.randrange(3)}, {random.choice(_SIZES)}, {random.choice(kinds)}",
            f"padto {random.randrange(3)}, {random.choice(_SIZES)}",
            f"swap {random.randrange(99)}, {random.randrange(3)}",
            f"tc {random.choice(_SIZES)}, 0, 0, 1",
            "nolocals",
        )
        chosen = ", ".join(f"#tg.opt<{random.choice(options)}>" for _ in range(random.randrange(5)))
        opts = f" opts [{chosen}]"
    lines.append(f"%d = tg.end %s over {ranges} : !tg.void")
    lines.append(f"%e = tg.sink %d{opts} : !tg.void")
    return "tg.kernel @k {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _great_shapes(random: Random) -> str:
    """Movement ops and reductions of great extents, on little memory."""
    n, m = random.choice(_SIZES), random.choice(_SIZES)
    dtype = random.choice(("f32", "i8", "i1", "f64", "index"))
    t = f"tensor<1x{dtype}>"
    big, square = f"tensor<{n}x{dtype}>", f"tensor<{n}x{m}x{dtype}>"
    choices = (
        f"%1 = tg.expand %x [{n}] : {t} -> {big}\n  %2 = tg.reduce add %1 [0] : {big} -> {t}\n  return %2 : {t}",
        f"%1 = tg.expand %x [{n}] : {t} -> {big}\n  return %1 : {big}",
        f"%1 = tg.pad %x at [{m}] to [{n}] : {t} -> {big}\n  return %1 : {big}",
        f"%1 = tg.expand %x [{n}] : {t} -> {big}\n  %2 = tg.reshape %1 [{n}, 1] : {big} -> tensor<{n}x1x{dtype}>\n"
        f"  %3 = tg.expand %2 [{n}, {m}] : tensor<{n}x1x{dtype}> -> {square}\n"
        f"  %4 = tg.reduce add %3 [0, 1] : {square} -> tensor<1x1x{dtype}>\n  return %4 : tensor<1x1x{dtype}>",
        f'%1 = tg.buffer 0 : tensor<{n}x{m}x{dtype}, #tg.place<"CPU", global>>\n  return %x : {t}',
        f"%1 = tg.const 1 : {square}\n  return %1 : {square}",
    )
    body = random.choice(choices)
    result = body.rsplit(" : ", 1)[1]
    return f"func.func @main(%x: {t}) -> {result} {{\n  {body}\n}}\n"


def _literals(random: Random) -> str:
    """Attributes that stand for more than is written."""
    n = random.choice(_SIZES)
    dtype = random.choice(("f32", "i8", "i1", "f64", "index", "i64", "complex<f32>", "bf16", "f8E4M3FN"))
    values = (
        f"dense<1> : tensor<{n}x{dtype}>",
        f"dense<1.0> : tensor<{n}x{dtype}>",
        f"dense<true> : tensor<{n}x{dtype}>",
        f'dense<"0x00"> : tensor<{n}x{dtype}>',
        f'dense<"0x{"00" * random.randrange(200)}"> : tensor<{n}x{dtype}>',
        f"dense<> : tensor<{n}x{dtype}>",
        f"dense<[{', '.join(['1'] * random.randrange(1, 2000))}]> : tensor<{n}x{dtype}>",
        f"sparse<[[0]], [1]> : tensor<{n}x{dtype}>",
        f"dense_resource<x> : tensor<{n}x{dtype}>",
        f"array<{dtype}: {', '.join(['1'] * 1000)}>",
        f"{'9' * random.choice((20, 400, 4000, 5000))} : i64",
        f"1.0e{'9' * random.choice((2, 5, 400))} : f64",
        f"0x{'F' * random.choice((16, 100, 4000))} : i{random.choice((1, 64, 128, 99999, 2**24, 10**9))}",
        f"tensor<{'x'.join(['1'] * random.choice((5, 33, 1000)))}x{dtype}>",
        f"vector<{n}x{dtype}>",
        f"memref<{n}x{dtype}, strided<[{n}], offset: {n}>>",
        f"affine_map<({', '.join(f'd{i}' for i in range(500))}) -> (d0)>",
        f"affine_map<(d0) -> ({' + '.join(['d0'] * 1000)})>",
        f"affine_map<(d0) -> ({'(' * 900}d0{')' * 900})>",
        f"#tg.target<\"cpu\", threads = {n}>",
        f"#tg.target<\"cpu\", l2 = {n}, threads = {random.choice(_SIZES)}>",
        f"#tg.target<{_quoted(_name(random))}>",
        f"#tg.opt<split {n}, {n}, upcast>",
        f"#tg.place<[{', '.join(f'{chr(34)}D{i}{chr(34)}' for i in range(random.choice((1, 500))))}], axis = {n}>",
    )
    value = random.choice(values)
    if random.randrange(2):
        key = "tg.target" if value.startswith("#tg.target") else random.choice(("a", "tg.target", "tg.x", "llvm.y"))
        attribute = f"module attributes {{{key} = {value}}} {{\n"
        t = "tensor<4xf32>"
        body = f"func.func @main(%x: {t}) -> {t} {{\n  %0 = tg.exp2 %x : {t}\n  return %0 : {t}\n}}\n"
        return attribute + body + "}\n"
    return f'"test.op"() {{a = {value}}} : () -> ()\n'


# -- nests -----------------------------------------------------------------------------------------


def _nests(random: Random) -> str:
    depth = random.choice((30, 60, 300, 1500, 4000))

    def nested(opening: str, inside: str, closing: str) -> str:
        times = min(depth, (LIMIT - 200) // (len(opening) + len(closing)))
        return opening * times + inside + closing * times

    def aliases(sigil: str, first: str, step: Callable[[str], str]) -> str:
        lines = [f"{sigil}a0 = {first}"]
        for n in range(min(depth, 400)):
            lines.append(f"{sigil}a{n + 1} = {step(f'{sigil}a{n}')}")
        return "\n".join(lines), f"{sigil}a{min(depth, 400)}"

    choice = random.randrange(14)
    match choice:
        case 0:
            return nested("module {\n", "", "}\n")
        case 1:
            return nested('"test.op"() ({\n', "", "}) : () -> ()\n")
        case 2:
            return f'"test.op"() {{a = {nested("[", "1", "]")}}} : () -> ()'
        case 3:
            return f'"test.op"() {{a = {nested("{a = ", "1", "}")}}} : () -> ()'
        case 4:
            return f'"test.op"() {{a = {nested("tuple<", "i32", ">")}}} : () -> ()'
        case 5:
            return f'"test.op"() {{a = {nested("(", "i32", ") -> ()")}}} : () -> ()'
        case 6:
            return f'"test.op"() {{a = dense<{nested("[", "1", "]")}> : tensor<1xi32>}} : () -> ()'
        case 7:
            return f'"test.op"() : () -> () loc({nested("fused[", "unknown", "]")})'
        case 8:
            return f'"test.op"() : () -> () loc({nested("callsite(", "unknown", " at unknown)")})'
        case 9:
            lines, last = aliases("#", "[1, 1]", lambda a: f"[{a}, {a}]")
            return f'{lines}\n"test.op"() {{a = {last}}} : () -> ()'
        case 10:
            lines, last = aliases("!", "i32", lambda a: f"tuple<{a}, {a}>")
            return f'{lines}\n"test.op"() {{a = {last}}} : () -> ()'
        case 11:
            lines, last = aliases("!", "tensor<f32>", lambda a: f"!tg.tuple<{a}, {a}>")
            return f'{lines}\n"test.op"() {{a = {last}}} : () -> ()'
        case 12:
            lines, last = aliases("#", "loc(unknown)", lambda a: f"loc(fused[{a}, {a}])")
            return f'{lines}\n"test.op"() : () -> () loc({last})'
        case _:
            t = "tensor<4xf32>"
            chain = "".join(
                f"  %{n + 1} = tg.neg %{n} : {t}\n" for n in range(min(depth, LIMIT // 40))
            )
            last = min(depth, LIMIT // 40)
            return f"func.func @main(%0: {t}) -> {t} {{\n{chain}  return %{last} : {t}\n}}\n"


# -- changed texts ---------------------------------------------------------------------------------


@cache
def _corpus() -> Sequence[tuple[str, str]]:
    """The pieces of the FileCheck tests without their comments, each with its format."""
    pieces: list[tuple[str, str]] = []
    for file in sorted(_FILECHECK.rglob("*")):
        if file.suffix not in (".mlir", ".uops"):
            continue
        text = file.read_text(encoding="utf-8")
        for piece in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
            plain = re.sub(r"^\s*(//|#).*\n", "", piece, flags=re.MULTILINE).strip()
            if 0 < len(plain) <= 6000:
                pieces.append((plain + "\n", file.suffix[1:]))
    return pieces


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[%@#!^]?[\w.$]+|->|[^\s\w]')
_NUMBERS = (
    "0", "-1", "1", "255", "4294967296", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551616", "1" + "0" * 40, "0x7FC00000", "1.0e308",
    "1.0e-320", "nan", "inf", "?", "true", "1.5",
)  # fmt: skip


def _changed(random: Random) -> tuple[str, str]:
    """A valid text in which some tokens are exchanged, doubled, removed or replaced."""
    text, form = random.choice(_corpus())
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        tokens = [*_TOKENS.finditer(text)]
        if not tokens:
            break
        token, other = random.choice(tokens), random.choice(tokens)
        before, after = text[: token.start()], text[token.end() :]
        match random.randrange(8):
            case 0:
                text = before + after
            case 1:
                text = before + other[0] + after
            case 2:
                text = before + token[0] + " " + token[0] + after
            case 3 | 4:
                digits = [t for t in tokens if t[0].isdecimal()]
                if digits:
                    chosen = random.choice(digits)
                    number = random.choice(_NUMBERS)
                    text = text[: chosen.start()] + number + text[chosen.end() :]
            case 5:
                names = [t for t in tokens if t[0][0] in "@"]
                if names:
                    old = random.choice(names)[0]
                    text = text.replace(old, "@" + _quoted(_name(random)))
            case 6:
                strings = [t for t in tokens if t[0][0] == '"']
                if strings:
                    old = random.choice(strings)
                    text = text[: old.start()] + _quoted(_name(random)) + text[old.end() :]
            case _:
                at = random.randrange(len(text))
                text = text[:at] + random.choice(("\0", "\x1b", "é", "}", "{", '"', "/*", "//", "<", "\ud7ff")) + text[at:]
    return text, form


def _lines(random: Random) -> tuple[str, str]:
    """A valid text in which lines are exchanged, doubled, repeated many times or removed."""
    text, form = random.choice(_corpus())
    lines = text.splitlines(keepends=True)
    for _ in range(random.choice((1, 1, 2, 3))):
        first, second = random.randrange(len(lines)), random.randrange(len(lines))
        match random.randrange(5):
            case 0:
                lines[first], lines[second] = lines[second], lines[first]
            case 1:
                lines.insert(first, lines[second])
            case 2:
                del lines[first]
                lines = lines or ["\n"]
            case 3:
                lines[first] = lines[first] * random.choice((2, 50))
            case _:
                lines[first:second] = []
                lines = lines or ["\n"]
    return "".join(lines), form


_WEIGHTED: tuple[tuple[str, Callable[[Random], str | tuple[str, str]], int], ...] = (
    ("names", _names, 20),
    ("names of tensors", _tensor_names, 8),
    ("doubled", _doubled, 6),
    ("called twice", _called_twice, 1),
    ("wide kernels", _wide_kernel, 10),
    ("great shapes", _great_shapes, 6),
    ("literals", _literals, 12),
    ("nests", _nests, 7),
    ("tokens", _changed, 22),
    ("lines", _lines, 8),
)
_KINDS = [(kind, make) for kind, make, _ in _WEIGHTED]
