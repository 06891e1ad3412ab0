// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --entry sum_main --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT1
// RUN: tg-run %s --entry sum_main --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT1
// RESULT1: dense<[15]> : tensor<1xi32>
// RUN: tg-run %s --entry extrema_main --input 3,-1,7,2 --target interpreter | filecheck %s --check-prefix=RESULT2
// RUN: tg-run %s --entry extrema_main --input 3,-1,7,2 --target cpu | filecheck %s --check-prefix=RESULT2
// RESULT2: dense<[7.0, -42.0]> : tensor<2xf32>
// RUN: tg-run %s --entry fibonacci_main --target interpreter | filecheck %s --check-prefix=RESULT3
// RUN: tg-run %s --entry fibonacci_main --target cpu | filecheck %s --check-prefix=RESULT3
// RESULT3: dense<[1, 1, 2, 3, 5, 8]> : tensor<6xi32>
// RUN: tg-run %s --entry rows_main --input 1,2,3,4,5,6 --target interpreter | filecheck %s --check-prefix=RESULT4
// RUN: tg-run %s --entry rows_main --input 1,2,3,4,5,6 --target cpu | filecheck %s --check-prefix=RESULT4
// RESULT4: dense<[6, 15]> : tensor<2xi32>
// RUN: tg-run %s --entry all_main --input 1,2,3,4,5,6 --target interpreter | filecheck %s --check-prefix=RESULT5
// RUN: tg-run %s --entry all_main --input 1,2,3,4,5,6 --target cpu | filecheck %s --check-prefix=RESULT5
// RESULT5: dense<[21]> : tensor<1xi32>
// RUN: tg-run %s --entry graph_main --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT6
// RUN: tg-run %s --entry graph_main --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT6
// RESULT6: dense<[30]> : tensor<1xi32>
// RUN: tg-run %s --entry inside_main --input 1,2,3,4,5,6 --target interpreter | filecheck %s --check-prefix=RESULT7
// RUN: tg-run %s --entry inside_main --input 1,2,3,4,5,6 --target cpu | filecheck %s --check-prefix=RESULT7
// RESULT7: dense<[16, 34]> : tensor<2xi32>

// DEFINE_ACC: an accumulator. One that a loop reduces with a single operation is a REDUCE.

// An initial value that is not the identity is added.
tg.program @sum {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @sum {
    // CHECK: %{{[0-9]+}} = tg.reduce add %x [] over %i : tensor<i32> -> tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.add %five, %{{[0-9]+}} : tensor<i32>
    // CHECK: %st = tg.store %{{[0-9]+}}, %{{[0-9]+}} : tensor<i32, #tg.place<global>>, tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<1xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %five = tg.const 5 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %five : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %s = tg.add %acc, %x : tensor<i32>
    %n = tg_legacy.assign %acc, %s : tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
    %st = tg_legacy.store %out at %c0 value %n : tensor<1xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}

// Two accumulators of one loop.
tg.program @extrema {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @extrema {
    // CHECK: %{{[0-9]+}} = tg.reduce max %x [] over %i : tensor<f32> -> tensor<f32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.reduce mul %x [] over %i : tensor<f32> -> tensor<f32>
    // CHECK-NOT: tg.buffer
    %out = tg_legacy.define_global 0 : tensor<2xf32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xf32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %low = tg.const -inf : tensor<f32>
    %one = tg.const 1.0 : tensor<f32>
    %m = tg_legacy.define_acc 0 from %low : tensor<f32>
    %p = tg_legacy.define_acc 1 from %one : tensor<f32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xf32, #tg.place<global>> at tensor<i32> -> tensor<f32>
    %max = tg.max %x, %m : tensor<f32>
    %mul = tg.mul %p, %x : tensor<f32>
    %mn = tg_legacy.assign %m, %max : tensor<f32>
    %pn = tg_legacy.assign %p, %mul : tensor<f32>
    %e = tg_legacy.endrange %i : tensor<i32>
    %s = tg_legacy.store %out at %c0 value %mn : tensor<2xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %t = tg_legacy.store %out at %c1 value %pn : tensor<2xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
  }
}

// These do not reduce: each is in registers, and the loop keeps its order.
tg.program @fibonacci {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @fibonacci {
    // CHECK: %i = tg.range 0 reduce to %{{[0-9]+}} : tensor<index>
    // CHECK-NEXT: %{{[0-9]+}} = tg.buffer 0 : tensor<i32, #tg.place<reg>>
    // CHECK-NEXT: %{{[0-9]+}} = tg.store %{{[0-9]+}}, %c1 : tensor<i32, #tg.place<reg>>, tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.after %{{[0-9]+}}, %{{[0-9]+}}, %i
    // CHECK-NEXT: %{{[0-9]+}} = tg.load %{{[0-9]+}} : tensor<i32, #tg.place<reg>> -> tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.buffer 1 : tensor<i32, #tg.place<reg>>
    // CHECK-NEXT: %{{[0-9]+}} = tg.store %{{[0-9]+}}, %c0 : tensor<i32, #tg.place<reg>>, tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.after %{{[0-9]+}}, %{{[0-9]+}}, %i
    // CHECK-NEXT: %{{[0-9]+}} = tg.load %{{[0-9]+}} : tensor<i32, #tg.place<reg>> -> tensor<i32>
    // CHECK: %s = tg.store %{{[0-9]+}}, %{{[0-9]+}} : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %h = tg.add %{{[0-9]+}}, %{{[0-9]+}} : tensor<i32>
    // CHECK: %{{[0-9]+}} = tg.store %{{[0-9]+}}, %h : tensor<i32, #tg.place<reg>>, tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.store %{{[0-9]+}}, %old : tensor<i32, #tg.place<reg>>, tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.group %s, %{{[0-9]+}}, %{{[0-9]+}}
    // CHECK-NEXT: %{{[0-9]+}} = tg.end %{{[0-9]+}} over %i : !tg.void
    %out = tg_legacy.define_global 0 : tensor<6xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c6 = tg.const 6 : tensor<i32>
    %f = tg_legacy.define_acc 0 from %c0 : tensor<i32>
    %g = tg_legacy.define_acc 1 from %c1 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c6 : tensor<i32>
    %s = tg_legacy.store %out at %i value %g : tensor<6xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %h = tg.add %f, %g : tensor<i32>
    %old = tg.add %g, %c0 : tensor<i32>
    %gn = tg_legacy.assign %g, %h : tensor<i32>
    %fn = tg_legacy.assign %f, %old : tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

// One for each iteration of an outer loop.
tg.program @rows {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @rows {
    // CHECK: %i = tg.range 0 loop to %{{[0-9]+}} : tensor<index>
    // CHECK: %j = tg.range 1 reduce to %{{[0-9]+}} : tensor<index>
    // CHECK: %{{[0-9]+}} = tg.reduce add %x [] over %j : tensor<i32> -> tensor<i32>
    // CHECK: %t = tg.store %{{[0-9]+}}, %{{[0-9]+}} : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %{{[0-9]+}} = tg.end %t over %i : !tg.void
    %out = tg_legacy.define_global 0 : tensor<2xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<6xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c2 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %c0 : tensor<i32>
    %j = tg_legacy.range 1 from %c0 to %c3 : tensor<i32>
    %r = tg.mul %i, %c3 : tensor<i32>
    %p = tg.add %r, %j : tensor<i32>
    %x = tg_legacy.load %a at %p : tensor<6xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %s = tg.add %acc, %x : tensor<i32>
    %n = tg_legacy.assign %acc, %s : tensor<i32>
    %ej = tg_legacy.endrange %j : tensor<i32>
    %t = tg_legacy.store %out at %i value %n : tensor<2xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %ei = tg_legacy.endrange %i : tensor<i32>
  }
}

// Loops in each other that reduce together are one REDUCE.
tg.program @all {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @all {
    // CHECK: %i = tg.range 0 reduce to %{{[0-9]+}} : tensor<index>
    // CHECK: %j = tg.range 1 reduce to %{{[0-9]+}} : tensor<index>
    // CHECK: %{{[0-9]+}} = tg.reduce add %x [] over %j : tensor<i32> -> tensor<i32>
    // CHECK-NOT: tg.reduce
    %out = tg_legacy.define_global 0 : tensor<1xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<6xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %c0 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c2 : tensor<i32>
    %j = tg_legacy.range 1 from %c0 to %c3 : tensor<i32>
    %r = tg.mul %i, %c3 : tensor<i32>
    %p = tg.add %r, %j : tensor<i32>
    %x = tg_legacy.load %a at %p : tensor<6xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %s = tg.add %acc, %x : tensor<i32>
    %n = tg_legacy.assign %acc, %s : tensor<i32>
    %ej = tg_legacy.endrange %j : tensor<i32>
    %ei = tg_legacy.endrange %i : tensor<i32>
    %t = tg_legacy.store %out at %c0 value %n : tensor<1xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}

// In a graph the DEFINE_ACC names its loops.
tg.kernel @graph {
  // CHECK-LABEL: tg.kernel @graph {
  // CHECK-NEXT: %out = tg.param 0 : tensor<1xi32, #tg.place<global>>
  // CHECK-NEXT: %a = tg.param 1 : tensor<4xi32, #tg.place<global>>
  // CHECK-NEXT: %{{[0-9]+}} = tg.const 0 : tensor<index>
  // CHECK-NEXT: %{{[0-9]+}} = tg.const 4 : tensor<index>
  // CHECK-NEXT: %i = tg.range 0 reduce to %{{[0-9]+}} : tensor<index>
  // CHECK-NEXT: %{{[0-9]+}} = tg.index %a[%i]
  // CHECK-NEXT: %x = tg.load %{{[0-9]+}} : tensor<i32, #tg.place<global>> -> tensor<i32>
  // CHECK-NEXT: %{{[0-9]+}} = tg.mul %x, %x : tensor<i32>
  // CHECK-NEXT: %{{[0-9]+}} = tg.reduce add %{{[0-9]+}} [] over %i : tensor<i32> -> tensor<i32>
  // CHECK-NEXT: %{{[0-9]+}} = tg.index %out[%{{[0-9]+}}]
  // CHECK-NEXT: %t = tg.store %{{[0-9]+}}, %{{[0-9]+}} : tensor<i32, #tg.place<global>>, tensor<i32>
  // CHECK-NEXT: %{{[0-9]+}} = tg.sink %t : !tg.void
  %out = tg_legacy.define_global 0 : tensor<1xi32, #tg.place<global>>
  %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
  %c0 = tg.const 0 : tensor<i32>
  %c4 = tg.const 4 : tensor<i32>
  %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
  %acc = tg_legacy.define_acc 0 from %c0 over %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
  %s = tg.mulacc %x, %x, %acc : tensor<i32>
  %n = tg_legacy.assign %acc, %s : tensor<i32>
  %t = tg_legacy.store %out at %c0 value %n : tensor<1xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  %r = tg.sink %t : !tg.void
}

// The loops that an accumulator names are those it is in, wherever it is defined: in one of them
// here, and within the loop over rows.
tg.program @inside {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @inside {
    // CHECK: tg.reduce add %{{[^ ]+}} [] over %k : tensor<i32> -> tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<2xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<6xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c2 : tensor<i32>
    %j = tg_legacy.range 1 from %c0 to %c3 : tensor<i32>
    %k = tg_legacy.range 2 from %c0 to %c2 : tensor<i32>
    %one = tg.const 1 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %one over %j, %k : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %row = tg.mul %i, %c3 : tensor<i32>
    %at = tg.add %row, %j : tensor<i32>
    %x = tg_legacy.load %a at %at : tensor<6xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %y = tg.add %x, %k : tensor<i32>
    %s = tg.add %acc, %y : tensor<i32>
    %n = tg_legacy.assign %acc, %s : tensor<i32>
    %ek = tg_legacy.endrange %k : tensor<i32>
    %ej = tg_legacy.endrange %j : tensor<i32>
    %st = tg_legacy.store %out at %i value %n : tensor<2xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %ei = tg_legacy.endrange %i : tensor<i32>
  }
}
