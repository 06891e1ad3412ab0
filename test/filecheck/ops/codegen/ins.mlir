// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<f32>) {
  // CHECK: %a = tg.ins "amd.v_rcp_f32"(%x) : tensor<f32>
  // GENERIC: %a = "tg.ins"(%x) <{mnemonic = "amd.v_rcp_f32"}> : (tensor<f32>) -> tensor<f32>
  %a = tg.ins "amd.v_rcp_f32"(%x) : tensor<f32>
  // CHECK: %b = tg.ins "amd.s_nop"() : !tg.void
  // GENERIC: %b = "tg.ins"() <{mnemonic = "amd.s_nop"}> : () -> !tg.void
  %b = tg.ins "amd.s_nop"() : !tg.void
  // CHECK: %c = tg.ins "amd.v_cvt"(%x) : tensor<f32> -> tensor<i32>
  // GENERIC: %c = "tg.ins"(%x) <{mnemonic = "amd.v_cvt"}> : (tensor<f32>) -> tensor<i32>
  %c = tg.ins "amd.v_cvt"(%x) : tensor<f32> -> tensor<i32>
  func.return
}
