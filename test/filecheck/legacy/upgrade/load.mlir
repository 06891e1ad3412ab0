// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[2, 4, 13, 5, 7, 13]> : tensor<6xi32>

// LOAD at a position: INDEX and LOAD, gated.

tg.program @k {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @k {
    // CHECK: %g = tg.cmplt %m, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: %1 = tg.index %a[%i]
    // CHECK-NEXT: %x = tg.load %1 alt %ten gate %g
    // CHECK: %4 = tg.index %a[%3]
    // CHECK-NEXT: %y = tg.load %4 : tensor<i32, #tg.place<global>> -> tensor<i32>
    // CHECK-NEXT: %z = tg.add %x, %y : tensor<i32>
    // CHECK: %s = tg.store %5, %z : tensor<i32, #tg.place<global>>, tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<6xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<6xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %c6 = tg.const 6 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c6 : tensor<i32>
    %m = tg.mod %i, %c3 : tensor<i32>
    %g = tg.cmplt %m, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %ten = tg.const 10 : tensor<i32>
    %x = tg_legacy.load %a at %i alt %ten gate %g : tensor<6xi32, #tg.place<global>> at tensor<i32> alt tensor<i32> gate tensor<i1> -> tensor<i32>
    %y = tg_legacy.load %a at %m : tensor<6xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %z = tg.add %x, %y : tensor<i32>
    %s = tg_legacy.store %out at %i value %z : tensor<6xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}
