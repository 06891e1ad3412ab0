// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%a: tensor<f32>, %b: tensor<4xi64>) {
  // CHECK: %scalar = tg.shuffle %a xor 4 of 32 : tensor<f32>
  // GENERIC: %scalar = "tg.shuffle"(%a) <{distance = #tg.number<4>, threads = #tg.number<32>}> : (tensor<f32>) -> tensor<f32>
  %scalar = tg.shuffle %a xor 4 of 32 : tensor<f32>
  // CHECK: %vector = tg.shuffle %b xor 33 of 64 : tensor<4xi64>
  // GENERIC: %vector = "tg.shuffle"(%b) <{distance = #tg.number<33>, threads = #tg.number<64>}> : (tensor<4xi64>) -> tensor<4xi64>
  %vector = tg.shuffle %b xor 33 of 64 : tensor<4xi64>
  func.return
}
