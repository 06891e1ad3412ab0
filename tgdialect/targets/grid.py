"""Grids: GPUs and OpenCL devices, which run a kernel as a grid of workgroups."""

from __future__ import annotations

from dataclasses import replace

from tgdialect.targets.local_factors import WARP_SHAPES, WARPGROUP_SHAPES
from tgdialect.targets.target import Target

ALIGNMENT = 16
"""The alignment in bytes of memory that is an argument of a host function: that of the widest
access of a work item."""

_AXIS_TYPES = frozenset(("global", "local", "warp", "upcast", "unroll", "group_reduce", "reduce"))
_NATIVE = frozenset(
    ("neg", "sub", "div", "sqrt", "not", "mulacc", "cmpgt", "cmpge", "cmple", "cmpeq")
)

GRID = Target(
    "opencl",
    execution="grid",
    native=_NATIVE,
    axis_types=_AXIS_TYPES,
    vector_bits=128,
    vector_registers=64,
    workgroup=256,
    local=32 << 10,
    warp=1,
    units=8,
    cache_line=128,
    resident=1024,
    llc_bytes=32,
)
"""An OpenCL device: the limits that nearly every device satisfies. `runtime/devices` raises them to
what a device reports. A unit has one workgroup for certain, and rates of small GPUs."""

METAL = replace(
    GRID,
    name="metal",
    has_f64=False,
    workgroup=1024,
    warp=32,
    shuffles=True,
    units=10,
    register_file=208 << 10,
)
"""A GPU of Apple's M series. Source: Metal Feature Set Tables, family Apple7; Johnson, "Apple G13
GPU Architecture Reference"."""

_LDMATRIX = frozenset(shape.name for shape in WARP_SHAPES)
_LDMATRIX_16 = frozenset(shape.name for shape in WARP_SHAPES if shape.itemsize == 2)
_MMA = frozenset(("mma.m16n8k16.f16", "mma.m16n8k16.bf16", "mma.m16n8k8.tf32"))
_MMA_FP8 = frozenset(("mma.m16n8k32.e4m3", "mma.m16n8k32.e5m2"))
_WGMMA = frozenset(shape.name for shape in WARPGROUP_SHAPES)
_MFMA = frozenset(
    f"mfma.{dims}.{dtype}" for dims in ("16x16x16", "32x32x8") for dtype in ("f16", "bf16")
)
_WMMA = frozenset(("wmma.16x16x16.f16", "wmma.16x16x16.bf16"))

_NVIDIA = replace(
    GRID,
    converted=frozenset(("f16", "bf16")),
    matrix=_MMA | _LDMATRIX_16,
    workgroup=1024,
    warp=32,
    local=163 << 10,
    static_local=48 << 10,
    shuffles=True,
    copies_asynchronously=True,
    l1=128 << 10,
    mulaccs=64,
    resident=2048,
    llc_bytes=32,
    bytes_per_cycle=10,
)
"""A GPU of NVIDIA's. Sources: CUDA C++ Programming Guide, "Compute Capabilities"; for rates "NVIDIA
A100 Tensor Core GPU Architecture" and "NVIDIA H100 Tensor Core GPU Architecture", whose bytes per
second are divided by units and clock; for latencies Luo et al., "Benchmarking and Dissecting the
Nvidia Hopper GPU Architecture via Microbenchmarking", 2024."""
_HOPPER = replace(
    _NVIDIA,
    matrix=_MMA | _MMA_FP8 | _LDMATRIX,
    local=227 << 10,
    units=132,
    l2=50 << 20,
    mulaccs=128,
    llc_bytes=28,
    matrix_mulaccs=1280,
    group_mulaccs=2048,
    bytes_per_cycle=14,
)
"""A GPU of the same maker with instructions of warpgroups. The bytes of L2 in a cycle are not
published: they are what two products were timed at on an H100 (docs/notes/grid-rows.md), one of
4096x4096x4096 in bf16 and one of 8 rows."""

_AMD = replace(
    GRID,
    converted=frozenset(("f16",)),
    workgroup=1024,
    warp=64,
    shuffles=True,
    local=64 << 10,
    mulaccs=64,
    matrix_mulaccs=512,
    register_file=512 << 10,
    resident=2048,
)
"""A GPU of AMD's. Sources: the CDNA3 and RDNA3 instruction set references; for rates "AMD CDNA 2
Architecture", "AMD CDNA 3 Architecture" and AMD's data sheets, divided by units and clock."""
_RDNA3 = replace(
    _AMD,
    matrix=_WMMA,
    units=96,
    l2=6 << 20,
    warp=32,
    mulaccs=128,
    matrix_mulaccs=256,
    schedulers=2,
    bytes_per_cycle=4,
)

GRIDS = (
    GRID,
    METAL,
    replace(_NVIDIA, name="nvidia:sm_80", units=108, l2=40 << 20),
    replace(_HOPPER, name="nvidia:sm_90"),
    replace(_HOPPER, name="nvidia:sm_90a", matrix=_HOPPER.matrix | _WGMMA),
    replace(_AMD, name="amd:gfx90a", matrix=_MFMA, units=104, l2=8 << 20),
    replace(
        _AMD,
        name="amd:gfx942",
        matrix=_MFMA,
        units=304,
        l2=4 << 20,
        mulaccs=128,
        matrix_mulaccs=1024,
    ),
    replace(_RDNA3, name="amd:gfx1100", register_file=384 << 10, resident=1024),
)
"""The grids that code is generated for; after the colon stands the vendor's name of the processor.
An `a` behind it selects instructions that later processors do not have."""
