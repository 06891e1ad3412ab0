// RUN: tg-opt %s -p 'tg-to-source{target=metal}' --split-input-file --verify-diagnostics

// A target without f64 cannot compute these: f64 that comes from memory, and what f32 would make wrong instead of less exact.

func.func @memory(%x: tensor<4xf64>) -> tensor<4xf32> {
  // expected-error@below {{the target metal has no f64}}
  %0 = tg.cos %x : tensor<4xf64>
  %1 = tg.cast %0 to f32 : tensor<4xf64> -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// -----

func.func @result(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error@below {{the target metal has no f64}}
  %0 = tg.cast %x to f64 : tensor<4xf32> -> tensor<4xf64>
  %1 = tg.cos %0 : tensor<4xf64>
  func.return %1 : tensor<4xf64>
}

// -----

func.func @sum(%x: tensor<4xf32>) -> tensor<1xf32> {
  // expected-error@below {{the target metal has no f64}}
  %0 = tg.cast %x to f64 : tensor<4xf32> -> tensor<4xf64>
  %1 = tg.reduce add %0 [0] : tensor<4xf64> -> tensor<1xf64>
  %2 = tg.cast %1 to f32 : tensor<1xf64> -> tensor<1xf32>
  func.return %2 : tensor<1xf32>
}

// -----

func.func @integers(%x: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error@below {{the target metal has no f64}}
  %0 = tg.cast %x to f64 : tensor<4xi32> -> tensor<4xf64>
  %1 = tg.cos %0 : tensor<4xf64>
  %2 = tg.cast %1 to f32 : tensor<4xf64> -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

func.func @remainder(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{the target metal has no f64}}
  %0 = tg.fmod %x, %y : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
