// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%n: tensor<i32>, %m: tensor<?xi32, #tg.place<global>>) {
  %l = tg.linear {
    %zero = tg.const 0 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %n : tensor<i32>
    %j = tg_legacy.range 1 from %zero to %i : tensor<i32>
    %s = tg_legacy.store %m at %j value %i : tensor<?xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    // CHECK: %ej = tg_legacy.endrange %j : tensor<i32>
    // GENERIC: %ej = "tg_legacy.endrange"(%j) : (tensor<i32>) -> !tg.void
    %ej = tg_legacy.endrange %j : tensor<i32>
    // CHECK: %ei = tg_legacy.endrange %i : tensor<i32>
    // GENERIC: %ei = "tg_legacy.endrange"(%i) : (tensor<i32>) -> !tg.void
    %ei = tg_legacy.endrange %i : tensor<i32>
  }
  func.return
}
