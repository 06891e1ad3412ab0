// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6,7 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6,7 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[1, 3, 5, 7]> : tensor<4xi32>

// DEFINE_GLOBAL: a PARAM of the kernel. Its size, if it does not say it, is one more than the greatest position. The slots are dense.

tg.program @odd {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @odd {
    // CHECK-NEXT: %data3 = tg.param 1 : tensor<7xi32, #tg.place<global>>
    // CHECK-NEXT: %data1 = tg.param 0 : tensor<4xi32, #tg.place<global>>
    // CHECK: %i = tg.range 0 loop to %0 : tensor<index>
    %a = tg_legacy.define_global 3 "data3" : tensor<?xi32, #tg.place<global>>
    %out = tg_legacy.define_global 1 "data1" mutable : tensor<?xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %p = tg.mul %i, %c2 : tensor<i32>
    %x = tg_legacy.load %a at %p : tensor<?xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %s = tg_legacy.store %out at %i value %x : tensor<?xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %0 = tg.call @odd(%data1, %data3)
