// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[3, 4, 1, 2, 1, 2, 5]> : tensor<7xi32>

// CAT: vectors of one length are a STACK in another shape; of others the lanes are stacked.

tg.program @join {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @join {
    // CHECK: %4 = tg.stack %y, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    // CHECK-NEXT: %yx = tg.reshape %4 [4] : tensor<2x2xi32> -> tensor<4xi32>
    // CHECK: %s = tg.store %6, %yx : tensor<4xi32, #tg.place<global>>, tensor<4xi32>
    %out = tg_legacy.define_global 0 : tensor<7xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<5xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %x = tg_legacy.load %a at %c0 : tensor<5xi32, #tg.place<global>> at tensor<i32> -> tensor<2xi32>
    %y = tg_legacy.load %a at %c2 : tensor<5xi32, #tg.place<global>> at tensor<i32> -> tensor<2xi32>
    %yx = tg_legacy.cat %y, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
    %s = tg_legacy.store %out at %c0 value %yx : tensor<7xi32, #tg.place<global>> at tensor<i32> value tensor<4xi32>
    // CHECK: %xz = tg.stack %11, %13, %15 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
    // CHECK: %t = tg.store %18, %xz : tensor<3xi32, #tg.place<global>>, tensor<3xi32>
    %z = tg_legacy.load %a at %c4 : tensor<5xi32, #tg.place<global>> at tensor<i32> -> tensor<1xi32>
    %xz = tg_legacy.cat %x, %z : (tensor<2xi32>, tensor<1xi32>) -> tensor<3xi32>
    %t = tg_legacy.store %out at %c4 value %xz : tensor<7xi32, #tg.place<global>> at tensor<i32> value tensor<3xi32>
  }
}
