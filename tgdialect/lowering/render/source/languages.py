"""The languages: C, OpenCL C, CUDA C++ and Metal."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.render.source.language import Language, Style
from tgdialect.ops import tg
from tgdialect.registry import universe

DIALECTS = ("llvm", "gpu")
"""The outputs of `tg-render` that are dialects."""

_SUFFIXES = {"f32": "f", "ui32": "u"}
_INFINITY = ("INFINITY", "NAN")


def _c_functions() -> Mapping[str, str]:
    """Functions of <math.h>."""
    found: dict[str, str] = {}
    for dtype, suffix in (("f32", "f"), ("f64", "")):
        for ours, theirs in (("sqrt", "sqrt"), ("trunc", "trunc"), ("fma", "fma")):
            found[f"{ours} {dtype}"] = f"{theirs}{suffix}"
    return found


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


C = Language(
    name="c",
    preamble="""\
/* Floats are IEEE 754's and integers wrap: build with -ffp-contract=off -fwrapv. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
""",
    types={
        "i1": "bool",
        **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 64)},
        **{f"ui{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
        "i32": "int",
        "index": "int64_t",
        "f32": "float",
        "f64": "double",
    },
    suffixes={**_SUFFIXES, "i64": "LL", "ui64": "ULL"},
    special_floats={"f32": _INFINITY, "f64": _INFINITY},
    kernel="void {name}({parameters})",
    helper="static inline ",
    scalar_parameter="{type} {name}",
    functions=_c_functions(),
    has_tiles=True,
    atomics=dict.fromkeys(
        ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "index", "f32", "f64"),
        "{cell} += {value}",
    )
    | {"i1": "{cell} |= {value}"},
)

_SHORT_NAMES = {
    "i1": "bool",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "index": "long",
    "ui8": "uchar",
    "ui16": "ushort",
    "ui32": "uint",
    "ui64": "ulong",
    "f32": "float",
}

OPENCL = Language(
    name="opencl",
    preamble="#pragma OPENCL FP_CONTRACT OFF\n",
    types={**_SHORT_NAMES, "f64": "double"},
    headers={"f64": "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"},
    suffixes={**_SUFFIXES, "i64": "L", "ui64": "UL"},
    # INFINITY and NAN are floats, and which NaN the latter is depends on the driver.
    special_floats={
        "f32": ("INFINITY", "as_float(0x7fc00000)"),
        "f64": ("((double)INFINITY)", "as_double(0x7ff8000000000000L)"),
    },
    kernel=(
        "__kernel __attribute__((reqd_work_group_size({x}, {y}, {z})))\nvoid {name}({parameters})"
    ),
    helper="static inline ",
    scalar_parameter="{type} {name}",
    functions=_same("sqrt", "trunc", "fma")
    | {"max integer": "max", "bitcast": "as_{type}({value})"},
    spaces={tg.AddrSpace.GLOBAL: "__global ", tg.AddrSpace.LOCAL: "__local "},
    shared="__local ",
    aligned="__attribute__((aligned({bytes}))) ",
    specials={
        "gidx": "get_group_id({axis})",
        "lidx": "get_local_id({axis})",
        "idx": "get_global_id({axis})",
    },
    barrier="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    unroll="#pragma unroll",
    vectors={lanes: f"{{element}}{lanes}" for lanes in (2, 3, 4, 8, 16)},
    vector_load="vload{lanes}(0, {pointer})",
    vector_store="vstore{lanes}({value}, 0, {pointer})",
    vector_value="({type})({elements})",
    loads_need_alignment=False,
    atomics={
        "i1": "helper atomic_or_byte",
        **dict.fromkeys(("i8", "i16", "ui8", "ui16"), "helper atomic_add_part"),
        **dict.fromkeys(("i32", "ui32"), "atomic_add({pointer}, {value})"),
        **dict.fromkeys(("i64", "ui64", "index"), "helper atomic_add_integer"),
        "f32": "helper atomic_add",
        "f64": "helper atomic_add_double",
    },
    signed_wraps=False,
)

_CUDA_BITS = {
    ("f32", "i32"): "__float_as_int({value})",
    ("f32", "ui32"): "__float_as_uint({value})",
    ("i32", "f32"): "__int_as_float({value})",
    ("ui32", "f32"): "__uint_as_float({value})",
    ("f64", "i64"): "__double_as_longlong({value})",
    ("f64", "ui64"): "(unsigned long long)__double_as_longlong({value})",
    ("i64", "f64"): "__longlong_as_double({value})",
    ("ui64", "f64"): "__longlong_as_double({value})",
}

_CUDA_NARROW = {
    "vector f16": "__halves2half2({elements})",
    "vector bf16": "__halves2bfloat162({elements})",
    "cast f16 f32": "__half2float({value})",
    "cast f32 f16": "__float2half_rn({value})",
    "cast bf16 f32": "__bfloat162float({value})",
    "cast f32 bf16": "__float2bfloat16_rn({value})",
    "bitcast f16 ui16": "__half_as_ushort({value})",
    "bitcast f16 i16": "__half_as_short({value})",
    "bitcast ui16 f16": "__ushort_as_half({value})",
    "bitcast i16 f16": "__short_as_half({value})",
    "bitcast bf16 ui16": "__bfloat16_as_ushort({value})",
    "bitcast bf16 i16": "__bfloat16_as_short({value})",
    "bitcast ui16 bf16": "__ushort_as_bfloat16({value})",
    "bitcast i16 bf16": "__short_as_bfloat16({value})",
}

_WORDS = ("i32", "ui32", "f32")
_NARROW = ("i1", "i8", "i16", "ui8", "ui16")

_CUDA_SHUFFLE = "__shfl_xor_sync({mask}, {value}, {distance})"
_METAL_SHUFFLE = "simd_shuffle_xor({value}, {distance})"

CUDA = Language(
    name="cuda",
    preamble="// Floats are IEEE 754's: build with -fmad=false.\n",
    types={
        "i1": "bool",
        "i8": "signed char",
        "i16": "short",
        "i32": "int",
        "i64": "long long",
        "index": "long long",
        "ui8": "unsigned char",
        "ui16": "unsigned short",
        "ui32": "unsigned int",
        "ui64": "unsigned long long",
        "f16": "__half",
        "bf16": "__nv_bfloat16",
        "f32": "float",
        "f64": "double",
    },
    headers={"f16": "#include <cuda_fp16.h>", "bf16": "#include <cuda_bf16.h>"},
    suffixes={**_SUFFIXES, "i64": "LL", "ui64": "ULL"},
    special_floats={
        "f32": ("__int_as_float(0x7f800000)", "__int_as_float(0x7fc00000)"),
        "f64": (
            "__longlong_as_double(0x7ff0000000000000LL)",
            "__longlong_as_double(0x7ff8000000000000LL)",
        ),
    },
    kernel='extern "C" __global__ void __launch_bounds__({items})\n{name}({parameters})',
    helper="static __device__ inline ",
    scalar_parameter="{type} {name}",
    functions={**_c_functions(), "max integer": "max"}
    | _CUDA_NARROW
    | {f"bitcast {a} {b}": text for (a, b), text in _CUDA_BITS.items()},
    shared="__shared__ ",
    dynamic_shared="extern __shared__ __align__({bytes}) unsigned char {name}[];",
    aligned="__align__({bytes}) ",
    specials={
        "gidx": "blockIdx.{letter}",
        "lidx": "threadIdx.{letter}",
        "idx": "blockIdx.{letter} * blockDim.{letter} + threadIdx.{letter}",
    },
    barrier="__syncthreads();",
    async_copy=(
        'asm volatile("cp.async.{caches}.shared.global [%0], [%1], {bytes};"\n'
        '    :: "r"((unsigned)__cvta_generic_to_shared({to})),\n'
        '       "l"(__cvta_generic_to_global({source})) : "memory");'
    ),
    async_copy_or_zeros=(
        'asm volatile("cp.async.{caches}.shared.global [%0], [%1], {bytes}, %2;"\n'
        '    :: "r"((unsigned)__cvta_generic_to_shared({to})),\n'
        '       "l"(__cvta_generic_to_global({source})), "r"({known}) : "memory");'
    ),
    async_wait=(
        'asm volatile("cp.async.commit_group; cp.async.wait_group {pending};" ::: "memory");'
    ),
    unroll="#pragma unroll",
    vectors={lanes: f"{{short}}{lanes}" for lanes in (2, 4)},
    widest_vectors={"f16": 2, "bf16": 2},
    vector_load="*(const {type} *)({pointer})",
    vector_store="*({type} *)({pointer}) = {value}",
    vector_value="make_{type}({elements})",
    atomics={
        "i1": "helper atomic_or_byte_cuda",
        **dict.fromkeys(("i8", "i16", "ui8", "ui16"), "helper atomic_add_part_cuda"),
        **dict.fromkeys(
            ("i32", "ui32", "ui64", "f16", "bf16", "f32", "f64"), "atomicAdd({pointer}, {value})"
        ),
        **dict.fromkeys(
            ("i64", "index"),
            "atomicAdd((unsigned long long *){pointer}, (unsigned long long)({value}))",
        ),
    },
    shuffles={
        **dict.fromkeys((*_WORDS, "i64", "ui64", "index", "f64"), _CUDA_SHUFFLE),
        **dict.fromkeys(_NARROW, "({type})" + _CUDA_SHUFFLE),
    },
    has_mma=True,
    signed_wraps=False,
)

TINYGRAD = Style(
    parenthesizes=True,
    names_loads=True,
    has_compound_assignments=False,
    global_cell="*({base} + {index})",
    loops=(),
    loop="ridx",
)
"""The style of tinygrad's kernels."""

METAL = Language(
    name="metal",
    preamble="""\
// Floats are IEEE 754's and integers wrap: build with -fno-fast-math -ffp-contract=off.
#include <metal_stdlib>
using namespace metal;
""",
    types={**_SHORT_NAMES, "f16": "half", "bf16": "bfloat"},
    suffixes={**_SUFFIXES, "i64": "L", "ui64": "UL"},
    special_floats={"f32": _INFINITY},
    kernel="kernel void {name}({parameters})",
    helper="static inline ",
    scalar_parameter="constant {type}& {name}",
    functions=_same("sqrt", "trunc", "fma")
    | {"max integer": "max", "bitcast": "as_type<{type}>({value})"},
    spaces={tg.AddrSpace.GLOBAL: "device ", tg.AddrSpace.LOCAL: "threadgroup "},
    shared="threadgroup ",
    aligned="alignas({bytes}) ",
    parameters_after=(
        "uint3 gid [[threadgroup_position_in_grid]]",
        "uint3 lid [[thread_position_in_threadgroup]]",
    ),
    specials={"gidx": "gid.{letter}", "lidx": "lid.{letter}"},
    barrier="threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
    unroll="#pragma clang loop unroll(full)",
    vectors={lanes: f"{{element}}{lanes}" for lanes in (2, 3, 4)},
    vector_load="*({space}const packed_{type} *)({pointer})",
    vector_store="*({space}packed_{type} *)({pointer}) = {value}",
    vector_value="{type}({elements})",
    loads_need_alignment=False,
    atomics={
        name: (
            f"atomic_fetch_add_explicit(({{space}}{type} *){{pointer}}, {{value}}, "
            "memory_order_relaxed)"
        )
        for name, type in (("i32", "atomic_int"), ("ui32", "atomic_uint"), ("f32", "atomic_float"))
    }
    | dict.fromkeys(("i64", "ui64", "index"), "helper atomic_add_words"),
    shuffles={
        **dict.fromkeys(_WORDS, _METAL_SHUFFLE),
        **dict.fromkeys(_NARROW, "({type})" + _METAL_SHUFFLE.replace("{value}", "(uint){value}")),
        **dict.fromkeys(
            ("i64", "ui64", "index"),
            "as_type<{type}>(simd_shuffle_xor(as_type<uint2>((long){value}), {distance}))",
        ),
    },
    style=TINYGRAD,
)

LANGUAGES: Mapping[str, Language] = {
    language.name: language for language in (C, OPENCL, CUDA, METAL)
}
"""The outputs of `tg-render` that are text, without those of plug-ins."""


def language_named(name: str) -> Language:
    """A language, or that of a plug-in. Raises PassFailedException if there is none."""
    if (language := LANGUAGES.get(name)) is not None:
        return language
    known = universe().all_languages
    if name not in known:
        there_are = ", ".join((*DIALECTS, *LANGUAGES, *(known.keys() - LANGUAGES.keys())))
        raise PassFailedException(f"{name!r} is no output; there are: {there_are}")
    return known[name]()
