"""Hostile texts: names, strings and locations that are code, or words, of some output language."""

# ruff: noqa: E501  # Lines of IR are as long as they are.

from __future__ import annotations

import re
from random import Random

CANARY = "pwned"
"""The file that a text creates if any of it is executed as a shell's or C's code."""

_SHELL = f"echo x > {CANARY}"
_CODE = (
    f'system("{_SHELL}"); (void)sizeof',
    f'x(){{}} __attribute__((constructor)) void evil(){{system("{_SHELL}");}} int y',
    f"a; {_SHELL}; b",
    f"$({_SHELL})",
    f"`{_SHELL}`",
    f'x*/ system("{_SHELL}"); /*',
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
_WORDS = """
    int float double char void bool half if else for while do return switch case break goto
    sizeof static inline const volatile restrict struct union enum typedef auto register extern
    signed long asm _Bool _Atomic INFINITY NAN NULL EOF errno assert true false main abort exit
    malloc free memcpy memset printf system sin cos exp exp2 log2 sqrt fma fabs trunc fmax isnan
    ldexp __builtin_trap __attribute__ __asm__ __FILE__ __LINE__ __func__ linux unix i386 M_PI
    CHAR_BIT INT_MIN INT32_MAX int8_t uint64_t size_t FLT_MAX SIZE_MAX kernel global local
    constant private device thread threadgroup __kernel __global __local __private uchar uint
    ulong float4 half2 vload4 image2d_t sampler_t event_t barrier get_global_id get_local_id
    as_float convert_int4 native_sin mad clamp select threadIdx blockIdx blockDim gridDim
    warpSize __global__ __shared__ __syncthreads __shfl_sync __half __nv_bfloat16 __nv_fp8_e4m3
    atomicAdd make_float4 float16 bfloat16_t metal simdgroup using namespace class template this
    new delete operator virtual try catch throw typename constexpr nullptr decltype and or not
    xor bitand compl alignas alignof wchar_t define declare entry target datalayout undef poison
    rax eax xmm0 st0 rsp ptr byte word offset flat .reg .entry tid ntid ctaid WARP_SZ r0 f0 rd0
    _start _init __tg tg_parallel llvm.memcpy.p0.p0.i64 llvm.trap llvm.sin.f32 llvm.used .text
    .L0 LBB0_1 data0 data1 gidx0 lidx0 acc0 alu0 val0 ridx0 temp0 x0 v0
""".split()  # noqa: SIM905
_VALUE_NAMES = (
    *(w for w in _WORDS if re.fullmatch(r"[A-Za-z_.$][\w.$-]*", w)),
    *["_", "__", "_1", "$", ".", "-", "a-b", "a.b", "$$", "_$.-"],
)


def quoted(name: str) -> str:
    """A string literal of MLIR."""
    plain = "".join(
        c if c.isprintable() and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode())
        for c in name
    )
    return f'"{plain}"'


def any_name(random: Random) -> str:
    name = random.choice(_CODE if random.randrange(2) else _WORDS)
    if random.randrange(4) == 0:
        name += random.choice(_CODE if random.randrange(2) else _WORDS)
    return name[:6000]


def _value(random: Random) -> str:
    """The name of a value, which MLIR writes without quotes."""
    return random.choice(_VALUE_NAMES)


def kernel_names(random: Random) -> str:
    kernel, function, unused = (quoted(any_name(random)) for _ in range(3))
    names = random.sample(_VALUE_NAMES, 9)
    o, i, c, r, v, p, s, a, w = (f"%{n}" for n in names)
    b, result = (f"%{n}" for n in random.sample(_VALUE_NAMES, 2))
    at = ""
    if random.randrange(2):
        place = quoted(any_name(random))
        at = random.choice(
            (
                f" loc({place})",
                f" loc({place}:{random.choice((0, 1, 7, 2**31, 2**63))}:{random.randrange(99)})",
                f" loc({place}({quoted(any_name(random))}:3:4))",
                f" loc(fused<{place}>[{place}, unknown])",
                f" loc(callsite({place} at {place}:1:2))",
            )
        )
    g, t = "tensor<4xf32, #tg.place<global>>", 'tensor<4xf32, #tg.place<"CPU", global>>'
    e = "tensor<f32, #tg.place<global>>"
    entry = "main" if random.randrange(3) else f"{function}"
    module = random.choice(
        ("", "", f"module @{unused} ", f"module attributes {{{unused} = {unused}}} ")
    )
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


def tensor_names(random: Random) -> str:
    """A program on tensors: kernels and their values get names from it."""
    function, unused = quoted(any_name(random)), quoted(any_name(random))
    x, y, z, w = (f"%{n}" for n in random.sample(_VALUE_NAMES, 4))
    at = f" loc({quoted(any_name(random))}:1:1)" if random.randrange(2) else ""
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
