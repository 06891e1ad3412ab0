// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --entry one_main --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT1
// RUN: tg-run %s --entry one_main --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT1
// RESULT1: dense<[10, 40, 90, 160]> : tensor<4xi32>
// RUN: tg-run %s --entry two_main --input 1,2,3 --input 10,20 --target interpreter | filecheck %s --check-prefix=RESULT2
// RUN: tg-run %s --entry two_main --input 1,2,3 --input 10,20 --target cpu | filecheck %s --check-prefix=RESULT2
// RESULT2: dense<[11, 12, 13, 21, 22, 23]> : tensor<6xi32>
// RUN: tg-run %s --entry gated_main --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT3
// RUN: tg-run %s --entry gated_main --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT3
// RESULT3: dense<[1, 2, 0, 0]> : tensor<4xi32>

// UNROLL: an axis of the shape for each of its axes. What does not depend on one broadcasts along it.

tg.program @one {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @one {
    // CHECK: %x = tg.load %{{[0-9]+}} : tensor<4xi32, #tg.place<global>> -> tensor<4xi32>
    // CHECK-NEXT: %xx = tg.mul %x, %x : tensor<4xi32>
    // CHECK: %y = tg.mul %xx, %{{[0-9]+}} : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>
    // CHECK: %s = tg.store %{{[0-9]+}}, %y : tensor<4xi32, #tg.place<global>>, tensor<4xi32>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %ten = tg.const 10 : tensor<i32>
    %lanes = tg_legacy.vconst [0, 1, 2, 3] : tensor<4xi32>
    %i = tg_legacy.unroll %lanes [[0, 4]] : tensor<4xi32> -> tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %xx = tg.mul %x, %x : tensor<i32>
    %y = tg.mul %xx, %ten : tensor<i32>
    %s = tg_legacy.store %out at %i value %y : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}

// Two axes: the positions, and what is read at each, are two-dimensional.
tg.program @two {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @two {
    // CHECK: %x = tg.load %{{[0-9]+}} : tensor<3xi32, #tg.place<global>> -> tensor<3xi32>
    // CHECK: %y = tg.load %{{[0-9]+}} : tensor<2xi32, #tg.place<global>> -> tensor<2xi32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.reshape %x [1, 3] : tensor<3xi32> -> tensor<1x3xi32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.reshape %y [2, 1] : tensor<2xi32> -> tensor<2x1xi32>
    // CHECK-NEXT: %z = tg.add %{{[0-9]+}}, %{{[0-9]+}} : (tensor<1x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
    // CHECK: %s = tg.store %{{[0-9]+}}, %{{[0-9]+}} : tensor<6xi32, #tg.place<global>>, tensor<6xi32>
    %out = tg_legacy.define_global 0 : tensor<6xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<3xi32, #tg.place<global>>
    %b = tg_legacy.define_global 2 : tensor<2xi32, #tg.place<global>>
    %c3 = tg.const 3 : tensor<i32>
    %iv = tg_legacy.vconst [0, 1] : tensor<2xi32>
    %jv = tg_legacy.vconst [0, 1, 2] : tensor<3xi32>
    %i = tg_legacy.unroll %iv [[0, 2]] : tensor<2xi32> -> tensor<i32>
    %j = tg_legacy.unroll %jv [[1, 3]] : tensor<3xi32> -> tensor<i32>
    %x = tg_legacy.load %a at %j : tensor<3xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %y = tg_legacy.load %b at %i : tensor<2xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %z = tg.add %x, %y : tensor<i32>
    %r = tg.mul %i, %c3 : tensor<i32>
    %p = tg.add %r, %j : tensor<i32>
    %s = tg_legacy.store %out at %p value %z : tensor<6xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}

// A gate that depends on the axis.
tg.program @gated {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @gated {
    // CHECK: %g = tg.cmplt %lanes, %{{[0-9]+}} : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi1>
    // CHECK: %s = tg.store %{{[0-9]+}}, %x gate %g : tensor<4xi32, #tg.place<global>>, tensor<4xi32>, tensor<4xi1>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c2 = tg.const 2 : tensor<i32>
    %lanes = tg_legacy.vconst [0, 1, 2, 3] : tensor<4xi32>
    %i = tg_legacy.unroll %lanes [[0, 4]] : tensor<4xi32> -> tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %g = tg.cmplt %i, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = tg_legacy.store %out at %i value %x gate %g : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32> gate tensor<i1>
  }
}
