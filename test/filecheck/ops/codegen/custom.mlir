// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<i32>, %y: tensor<f32>) {
  // CHECK: %a = tg.custom "__builtin_popcount({0})"(%x) : tensor<i32>
  // GENERIC: %a = "tg.custom"(%x) <{fmt = "__builtin_popcount({0})"}> : (tensor<i32>) -> tensor<i32>
  %a = tg.custom "__builtin_popcount({0})"(%x) : tensor<i32>
  // CHECK: %b = tg.custom "f({}, {})"(%x, %y) : (tensor<i32>, tensor<f32>) -> !tg.void
  // GENERIC: %b = "tg.custom"(%x, %y) <{fmt = "f({}, {})"}> : (tensor<i32>, tensor<f32>) -> !tg.void
  %b = tg.custom "f({}, {})"(%x, %y) : (tensor<i32>, tensor<f32>) -> !tg.void
  // CHECK: %c = tg.custom "{1} + {0} * {1}"(%x, %y) {inline} : (tensor<i32>, tensor<f32>) -> tensor<f32>
  // GENERIC: %c = "tg.custom"(%x, %y) <{fmt = "{1} + {0} * {1}"}> {inline} : (tensor<i32>, tensor<f32>) -> tensor<f32>
  %c = tg.custom "{1} + {0} * {1}"(%x, %y) {inline} : (tensor<i32>, tensor<f32>) -> tensor<f32>
  // CHECK: %e = tg.custom "f({0})"(%x) by "f" : tensor<i32>
  // GENERIC: %e = "tg.custom"(%x) <{fmt = "f({0})", function = "f"}> : (tensor<i32>) -> tensor<i32>
  %e = tg.custom "f({0})"(%x) by "f" : tensor<i32>
  // CHECK: %d = tg.custom "abort();"() : !tg.void
  // GENERIC: %d = "tg.custom"() <{fmt = "abort();"}> : () -> !tg.void
  %d = tg.custom "abort();"() : !tg.void
  func.return
}
