// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3 --input 10,20 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3 --input 10,20 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[11, 12, 13, 21, 22, 23, 11, 21, 12, 22, 13, 23, 1, 1, 2, 2, 3, 3]> : tensor<18xi32>

// CONTRACT: the axes of unrolled loops, in the order that it lists them, are the lanes of a vector.

tg.program @outer_sum {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @outer_sum {
    // CHECK: %4 = tg.reshape %av [1, 3] : tensor<3xi32> -> tensor<1x3xi32>
    // CHECK-NEXT: %5 = tg.reshape %bv [2, 1] : tensor<2xi32> -> tensor<2x1xi32>
    // CHECK-NEXT: %z = tg.add %4, %5 : (tensor<1x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
    %out = tg_legacy.define_global 0 : tensor<18xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<3xi32, #tg.place<global>>
    %b = tg_legacy.define_global 2 : tensor<2xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c6 = tg.const 6 : tensor<i32>
    %c12 = tg.const 12 : tensor<i32>
    %av = tg_legacy.load %a at %c0 : tensor<3xi32, #tg.place<global>> at tensor<i32> -> tensor<3xi32>
    %bv = tg_legacy.load %b at %c0 : tensor<2xi32, #tg.place<global>> at tensor<i32> -> tensor<2xi32>
    %x = tg_legacy.unroll %av [[1, 3]] : tensor<3xi32> -> tensor<i32>
    %y = tg_legacy.unroll %bv [[0, 2]] : tensor<2xi32> -> tensor<i32>
    %z = tg.add %x, %y : tensor<i32>
    // CHECK-NEXT: %rows = tg.reshape %z [6] : tensor<2x3xi32> -> tensor<6xi32>
    // CHECK: %s = tg.store %7, %rows : tensor<6xi32, #tg.place<global>>, tensor<6xi32>
    %rows = tg_legacy.contract %z [[0, 2], [1, 3]] : tensor<i32> -> tensor<6xi32>
    %s = tg_legacy.store %out at %c0 value %rows : tensor<18xi32, #tg.place<global>> at tensor<i32> value tensor<6xi32>
    // CHECK-NEXT: %8 = tg.permute %z [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
    // CHECK-NEXT: %columns = tg.reshape %8 [6] : tensor<3x2xi32> -> tensor<6xi32>
    // CHECK: %t = tg.store %11, %columns : tensor<6xi32, #tg.place<global>>, tensor<6xi32>
    %columns = tg_legacy.contract %z [[1, 3], [0, 2]] : tensor<i32> -> tensor<6xi32>
    %t = tg_legacy.store %out at %c6 value %columns : tensor<18xi32, #tg.place<global>> at tensor<i32> value tensor<6xi32>
    // Along an axis that it does not depend on a value repeats.
    // CHECK: %13 = tg.expand %12 [2, 3] : tensor<1x3xi32> -> tensor<2x3xi32>
    // CHECK: %u = tg.store %17, %repeated : tensor<6xi32, #tg.place<global>>, tensor<6xi32>
    %repeated = tg_legacy.contract %x [[1, 3], [0, 2]] : tensor<i32> -> tensor<6xi32>
    %u = tg_legacy.store %out at %c12 value %repeated : tensor<18xi32, #tg.place<global>> at tensor<i32> value tensor<6xi32>
  }
}
