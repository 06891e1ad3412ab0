// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --arg a=10,20,30,40 --arg n=3 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --arg a=10,20,30,40 --arg n=3 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[10, 20, 30, 0]> : tensor<4xi32>

// DEFINE_VAR: a PARAM of dtype index with its name and bounds, after the memory; an argument of the function that calls the kernel.

tg.program @copy {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @copy {
    // CHECK-NEXT: %n = tg.param 2 "n" min 0 max 4 : tensor<index>
    // CHECK-NEXT: %out = tg.param 0 : tensor<4xi32, #tg.place<global>>
    // CHECK-NEXT: %a = tg.param 1 : tensor<4xi32, #tg.place<global>>
    // CHECK-NEXT: %i = tg.range 0 loop to %n : tensor<index>
    %n = tg_legacy.define_var "n" 0 to 4 : tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %n : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %s = tg_legacy.store %out at %i value %x : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %0 = tg.call @copy(%out, %a, %n)
