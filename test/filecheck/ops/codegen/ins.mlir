// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<i32>, %y: tensor<4xui32>, %z: tensor<f32>) {
  // CHECK: %a = tg.ins "amd:gfx942.v_bfrev_b32"(%x) : tensor<i32>
  // GENERIC: %a = "tg.ins"(%x) <{mnemonic = "amd:gfx942.v_bfrev_b32"}> : (tensor<i32>) -> tensor<i32>
  %a = tg.ins "amd:gfx942.v_bfrev_b32"(%x) : tensor<i32>
  // CHECK: %b = tg.ins "amd.s_nop"() : !tg.void
  // GENERIC: %b = "tg.ins"() <{mnemonic = "amd.s_nop"}> : () -> !tg.void
  %b = tg.ins "amd.s_nop"() : !tg.void
  // CHECK: %c = tg.ins "cpu.vpmaddwd"(%y, %y) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi32>
  // GENERIC: %c = "tg.ins"(%y, %y) <{mnemonic = "cpu.vpmaddwd"}> : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi32>
  %c = tg.ins "cpu.vpmaddwd"(%y, %y) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi32>
  // A target that has no table.
  // CHECK: %d = tg.ins "dsp.recip"(%z) : tensor<f32>
  %d = tg.ins "dsp.recip"(%z) : tensor<f32>
  func.return
}
