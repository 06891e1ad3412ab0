// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// out = 3, and a CONST with a device, which is the op of the older vocabulary.
tg.program @const {
  %0 = tg.linear {
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    // CHECK: %zero = tg.const 0 : tensor<i32>
    %zero = tg.const 0 : tensor<i32>
    // CHECK: %four = tg.const 4 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    // CHECK: %three = tg.const 3 : tensor<i32>
    %three = tg.const 3 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %outi = tg_legacy.index %out, %i : (tensor<4xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %s = tg_legacy.store %outi value %three : tensor<i32, #tg.place<global>> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

func.func @main() -> tensor<4xi32, #tg.place<"CPU">> {
  %d = tg_legacy.device "CPU"
  %v = tg_legacy.view %d [#tg_legacy.view<[4], strides = [0]>] : !tg.void
  // CHECK: %c = tg_legacy.const 3 : tensor<4xi32, #tg.place<"CPU">> on %v
  %c = tg_legacy.const 3 : tensor<4xi32, #tg.place<"CPU">> on %v
  func.return %c : tensor<4xi32, #tg.place<"CPU">>
}
