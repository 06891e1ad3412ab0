// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

tg.program @triangle {
  %l = tg.linear {
    %m = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %zero = tg.const 0 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %j = tg_legacy.range 1 from %zero to %i : tensor<i32>
    %s = tg_legacy.store %m at %j value %i : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    // CHECK: %ej = tg_legacy.endrange %j : tensor<i32>
    // GENERIC: %ej = "tg_legacy.endrange"(%j) : (tensor<i32>) -> !tg.void
    %ej = tg_legacy.endrange %j : tensor<i32>
    // CHECK: %ei = tg_legacy.endrange %i : tensor<i32>
    // GENERIC: %ei = "tg_legacy.endrange"(%i) : (tensor<i32>) -> !tg.void
    %ei = tg_legacy.endrange %i : tensor<i32>
  }
}
