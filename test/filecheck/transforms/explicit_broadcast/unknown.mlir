// RUN: tg-opt %s -p tg-explicit-broadcast --verify-diagnostics

func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = tg.const 1.5 : tensor<f32>
  // expected-error@below {{no index value gives the extent}}
  %0 = tg.add %x, %c : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
