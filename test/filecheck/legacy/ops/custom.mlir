// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<i32>, %y: tensor<4xf32>) {
  // CHECK: %statement = tg_legacy.custom "prefetch({0});"(%x) : tensor<i32> -> !tg.void
  // GENERIC: %statement = "tg_legacy.custom"(%x) <{fmt = "prefetch({0});"}> : (tensor<i32>) -> !tg.void
  %statement = tg_legacy.custom "prefetch({0});"(%x) : tensor<i32> -> !tg.void
  // CHECK: %value = tg_legacy.custom "f({0}, {1}, {0})"(%x, %y) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: %value = "tg_legacy.custom"(%x, %y) <{fmt = "f({0}, {1}, {0})"}> : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  %value = tg_legacy.custom "f({0}, {1}, {0})"(%x, %y) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %alone = tg_legacy.custom "wait();"() : !tg.void
  // GENERIC: %alone = "tg_legacy.custom"() <{fmt = "wait();"}> : () -> !tg.void
  %alone = tg_legacy.custom "wait();"() : !tg.void
  func.return
}
