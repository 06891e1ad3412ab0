// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<i32>, %y: tensor<4xui32>, %z: tensor<f32>, %p: tensor<4xui32>, %q: tensor<2xui32>, %r: tensor<4xf32>) {
  // CHECK: %a = tg.ins "amd:gfx942.v_bfrev_b32"(%x) : tensor<i32>
  // GENERIC: %a = "tg.ins"(%x) <{mnemonic = "amd:gfx942.v_bfrev_b32"}> : (tensor<i32>) -> tensor<i32>
  %a = tg.ins "amd:gfx942.v_bfrev_b32"(%x) : tensor<i32>
  // CHECK: %b = tg.ins "amd.s_nop"() : !tg.void
  // GENERIC: %b = "tg.ins"() <{mnemonic = "amd.s_nop"}> : () -> !tg.void
  %b = tg.ins "amd.s_nop"() : !tg.void
  // CHECK: %c = tg.ins "cpu.vpmaddwd"(%y, %y) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi32>
  // GENERIC: %c = "tg.ins"(%y, %y) <{mnemonic = "cpu.vpmaddwd"}> : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi32>
  %c = tg.ins "cpu.vpmaddwd"(%y, %y) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi32>
  // Fragments of a warp; the factors are rounded to tf32.
  // CHECK: %e = tg.ins "nvidia.mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"(%p, %q, %r) : (tensor<4xui32>, tensor<2xui32>, tensor<4xf32>) -> tensor<4xf32>
  %e = tg.ins "nvidia.mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"(%p, %q, %r) : (tensor<4xui32>, tensor<2xui32>, tensor<4xf32>) -> tensor<4xf32>
  // A target that has no table.
  // CHECK: %d = tg.ins "dsp.recip"(%z) : tensor<f32>
  %d = tg.ins "dsp.recip"(%z) : tensor<f32>
  func.return
}
