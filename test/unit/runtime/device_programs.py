"""A program at level `linear` whose kernel has code: it doubles 1000 floats, twice."""

from __future__ import annotations

from opencl_device import KIND

OPENCL = (
    "__kernel void double_it(__global float *o, __global const float *x) "
    "{ size_t i = get_global_id(0); o[i] = x[i] + x[i]; }"
)
CUDA = (
    'extern "C" __global__ void double_it(float *o, const float *x) '
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = x[i] + x[i]; }"
)
PTX = ".target sm_90"
SOURCE = CUDA if KIND == "CUDA" else OPENCL
"""What the device of `opencl_device.py` compiles."""
_HERE = 'tensor<1000xf32, #tg.place<"CPU", global>>'
_MEMORY, _CELL = "tensor<1000xf32, #tg.place<global>>", "tensor<f32, #tg.place<global>>"


def program(source: str = SOURCE, workgroup: int = 100, groups: int | None = None) -> str:
    """The program with this code, in workgroups of some size. The first call of the kernel writes
    a BUFFER, of which the second one reads."""
    count = 1000 // workgroup if groups is None else groups
    source = source.replace('"', r"\"")
    return f"""
module {{
  tg.program @double_it {{
    %0 = tg.linear {{
      %o = tg.param 0 : {_MEMORY}
      %x = tg.param 1 : {_MEMORY}
      %g = tg.const {count} : tensor<index>
      %n = tg.const {workgroup} : tensor<index>
      %i = tg.special "gidx0" to %g : tensor<index>
      %j = tg.special "lidx0" to %n : tensor<index>
      %m = tg.mul %i, %n : tensor<index>
      %k = tg.add %m, %j : tensor<index>
      %p = tg.index %x[%k] : ({_MEMORY}, tensor<index>) -> {_CELL}
      %v = tg.load %p : {_CELL} -> tensor<f32>
      %w = tg.add %v, %v : tensor<f32>
      %q = tg.index %o[%k] : ({_MEMORY}, tensor<index>) -> {_CELL}
      %s = tg.store %q, %w : {_CELL}, tensor<f32>
      %e = tg.sink %s : !tg.void
    }}
    %1 = tg.source "{source}"
  }}
  func.func @main(%x: {_HERE}, %o: {_HERE} {{tg.output}}) {{
    %b = tg.buffer 0 : {_HERE}
    %0 = tg.linear {{
      %1 = tg.call @double_it(%b, %x) : ({_HERE}, {_HERE}) -> !tg.void
      %2 = tg.call @double_it(%o, %b) : ({_HERE}, {_HERE}) -> !tg.void
    }}
    func.return
  }}
}}"""
