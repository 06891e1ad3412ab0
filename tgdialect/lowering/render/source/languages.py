"""The languages: C, OpenCL C, CUDA C++ and Metal."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.render.source.language import Language, Style
from tgdialect.ops import tg
from tgdialect.registry import universe

_INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "index")
_DTYPES = ("i1", *_INTEGERS, "f32")
_NARROW = ("i1", "i8", "i16", "ui8", "ui16")
_WORDS = ("i32", "ui32", "f32")
_LONGS = ("i64", "ui64", "index")

_SUFFIXES = {"f32": "f", "ui32": "u"}
_INFINITY = ("INFINITY", "NAN")
_MATH = ("sqrt", "trunc", "fma")
_MATH_H = {
    f"{name} {dtype}": name + suffix
    for dtype, suffix in (("f32", "f"), ("f64", ""))
    for name in _MATH
}
"""Functions of <math.h>."""


def _types(names: str, **others: str) -> dict[str, str]:
    """The types of `_DTYPES`, and of others."""
    return dict(zip(_DTYPES, names.split(", "), strict=True)) | others


C = Language(
    name="c",
    preamble="""\
/* Floats are IEEE 754's and integers wrap: build with -ffp-contract=off -fwrapv. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
""",
    types=_types(
        "bool, int8_t, int16_t, int, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, int64_t, "
        "float",
        f64="double",
    ),
    suffixes={**_SUFFIXES, "i64": "LL", "ui64": "ULL"},
    special_floats={"f32": _INFINITY, "f64": _INFINITY},
    kernel="void {name}({parameters})",
    helper="static inline ",
    scalar_parameter="{type} {name}",
    functions=_MATH_H,
    has_tiles=True,
    atomics=dict.fromkeys((*_INTEGERS, "f32", "f64"), "{cell} += {value}")
    | {"i1": "{cell} |= {value}"},
)

_SHORT_NAMES = _types("bool, char, short, int, long, uchar, ushort, uint, ulong, long, float")

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
    functions=dict(zip(_MATH, _MATH, strict=True))
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
        **dict.fromkeys(_LONGS, "helper atomic_add_integer"),
        "f32": "helper atomic_add",
        "f64": "helper atomic_add_double",
    },
    signed_wraps=False,
)

_CUDA_NARROW = {
    "vector f16": "__halves2half2({elements})",
    "vector bf16": "__halves2bfloat162({elements})",
    "cast f16 f32": "__half2float({value})",
    "cast f32 f16": "__float2half_rn({value})",
    "cast bf16 f32": "__bfloat162float({value})",
    "cast f32 bf16": "__float2bfloat16_rn({value})",
}

_CUDA_NAMES = {
    **{"f16": "half", "bf16": "bfloat16", "f32": "float", "f64": "double"},
    **{"i16": "short", "ui16": "ushort", "i32": "int", "ui32": "uint"},
    **dict.fromkeys(("i64", "ui64"), "longlong"),
}
_CUDA_BITS = {
    f"bitcast {source} {result}": f"__{_CUDA_NAMES[source]}_as_{_CUDA_NAMES[result]}({{value}})"
    for float, bits in (("f16", 16), ("bf16", 16), ("f32", 32), ("f64", 64))
    for integer in (f"i{bits}", f"ui{bits}")
    for source, result in permutations((float, integer))
} | {"bitcast f64 ui64": "(unsigned long long)__double_as_longlong({value})"}

_CUDA_SHUFFLE = "__shfl_xor_sync({mask}, {value}, {distance})"
_METAL_SHUFFLE = "simd_shuffle_xor({value}, {distance})"

CUDA = Language(
    name="cuda",
    preamble="// Floats are IEEE 754's: build with -fmad=false.\n",
    types=_types(
        "bool, signed char, short, int, long long, unsigned char, unsigned short, unsigned int, "
        "unsigned long long, long long, float",
        **{"f16": "__half", "bf16": "__nv_bfloat16", "f64": "double"},
    ),
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
    functions={**_MATH_H, "max integer": "max", **_CUDA_NARROW, **_CUDA_BITS},
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
        **dict.fromkeys((*_WORDS, *_LONGS, "f64"), _CUDA_SHUFFLE),
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
    functions=dict(zip(_MATH, _MATH, strict=True))
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
    | dict.fromkeys(_LONGS, "helper atomic_add_words"),
    shuffles={
        **dict.fromkeys(_WORDS, _METAL_SHUFFLE),
        **dict.fromkeys(_NARROW, "({type})" + _METAL_SHUFFLE.replace("{value}", "(uint){value}")),
        **dict.fromkeys(
            _LONGS, "as_type<{type}>(simd_shuffle_xor(as_type<uint2>((long){value}), {distance}))"
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
        there_are = ", ".join(("llvm", "gpu", *LANGUAGES, *(known.keys() - LANGUAGES.keys())))
        raise PassFailedException(f"{name!r} is no output; there are: {there_are}")
    return known[name]()
