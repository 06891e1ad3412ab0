// REQUIRES: mlir
// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90" mode=heuristic}' | mlir-opt --gpu-module-to-binary=format=isa | filecheck %s --check-prefix=NVIDIA
// RUN: tg-opt %s -p 'tg-to-gpu{target="amd:gfx942" mode=heuristic}' | mlir-opt | filecheck %s --check-prefix=AMD
// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90" mode=heuristic}' | mlir-opt | tg-opt -t ptx | filecheck %s --check-prefix=PTX

// Upstream's tools accept what is rendered, and generate PTX from it by themselves. We read what they print.

// NVIDIA: gpu.binary @kernels
// NVIDIA-SAME: .visible .entry main_0(
// NVIDIA-SAME: ld.global.v4
// NVIDIA-SAME: max.NaN.f32
// NVIDIA: gpu.launch_func
// AMD: gpu.module @kernels [#rocdl.target<chip = "gfx942">]
// AMD: rocdl.workgroup.id.x
// AMD: gpu.launch_func
// PTX: ld.global.v4.b32

func.func @main(%a: tensor<256x1024xf32>, %b: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %0 = tg.max %a, %b : tensor<256x1024xf32>
  %1 = tg.exp2 %0 : tensor<256x1024xf32>
  func.return %1 : tensor<256x1024xf32>
}
