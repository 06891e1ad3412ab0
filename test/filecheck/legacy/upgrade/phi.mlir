// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --entry dot_main --input 1,2,3,4 --input 5,6,7,8 --target interpreter | filecheck %s --check-prefix=RESULT1
// RUN: tg-run %s --entry dot_main --input 1,2,3,4 --input 5,6,7,8 --target cpu | filecheck %s --check-prefix=RESULT1
// RESULT1: dense<[70]> : tensor<1xi32>
// RUN: tg-run %s --entry horner_main --input 2,0,1 --target interpreter | filecheck %s --check-prefix=RESULT2
// RUN: tg-run %s --entry horner_main --input 2,0,1 --target cpu | filecheck %s --check-prefix=RESULT2
// RESULT2: dense<[201]> : tensor<1xi32>

// PHI: the next value of an accumulator. A sum of products that begins with 0 is a REDUCE, that of two loops one over both.

tg.program @dot {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @dot {
    // CHECK-NEXT: %data0 = tg.param 0 : tensor<1xi32, #tg.place<global>>
    // CHECK-NEXT: %data1 = tg.param 1 : tensor<4xi32, #tg.place<global>>
    // CHECK-NEXT: %data2 = tg.param 2 : tensor<4xi32, #tg.place<global>>
    // CHECK-NEXT: %0 = tg.const 0 : tensor<index>
    // CHECK-NEXT: %1 = tg.const 4 : tensor<index>
    // CHECK-NEXT: %i = tg.range 0 reduce to %1 : tensor<index>
    // CHECK-NEXT: %2 = tg.index %data1[%i]
    // CHECK-NEXT: %x = tg.load %2 : tensor<i32, #tg.place<global>> -> tensor<i32>
    // CHECK-NEXT: %3 = tg.index %data2[%i]
    // CHECK-NEXT: %y = tg.load %3 : tensor<i32, #tg.place<global>> -> tensor<i32>
    // CHECK-NEXT: %p = tg.mul %x, %y : tensor<i32>
    // CHECK-NEXT: %4 = tg.reduce add %p [] over %i : tensor<i32> -> tensor<i32>
    // CHECK-NEXT: %5 = tg.index %data0[%0]
    // CHECK-NEXT: %t = tg.store %5, %4 : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %6 = tg.sink %t : !tg.void
    %data0 = tg_legacy.define_global 0 "data0" mutable : tensor<?xi32, #tg.place<global>>
    %data1 = tg_legacy.define_global 1 "data1" : tensor<?xi32, #tg.place<global>>
    %data2 = tg_legacy.define_global 2 "data2" : tensor<?xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %c0 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %i = tg_legacy.loop from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %data1 at %i : tensor<?xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %y = tg_legacy.load %data2 at %i : tensor<?xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %p = tg_legacy.alu "BinaryOps.MUL" %x, %y : tensor<i32>
    %s = tg_legacy.alu "BinaryOps.ADD" %p, %acc : tensor<i32>
    %n = tg_legacy.phi %acc, %s over %i : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %e = tg_legacy.endloop %i : tensor<i32>
    %t = tg_legacy.store %data0 at %c0 value %n : tensor<?xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}

// Two operations do not reduce.
tg.program @horner {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @horner {
    // CHECK: %i = tg.range 0 reduce to %1 : tensor<index>
    // CHECK-NEXT: %2 = tg.buffer 0 : tensor<i32, #tg.place<reg>>
    // CHECK-NEXT: %3 = tg.store %2, %c0 : tensor<i32, #tg.place<reg>>, tensor<i32>
    // CHECK-NEXT: %4 = tg.after %2, %3, %i
    // CHECK-NEXT: %5 = tg.load %4 : tensor<i32, #tg.place<reg>> -> tensor<i32>
    // CHECK: %p = tg.mul %5, %c10 : tensor<i32>
    // CHECK-NEXT: %s = tg.add %p, %x : tensor<i32>
    // CHECK-NEXT: %7 = tg.store %4, %s : tensor<i32, #tg.place<reg>>, tensor<i32>
    // CHECK-NEXT: %8 = tg.end %7 over %i : !tg.void
    // CHECK-NEXT: %9 = tg.after %2, %8 : (tensor<i32, #tg.place<reg>>, !tg.void) -> tensor<i32, #tg.place<reg>>
    // CHECK-NEXT: %10 = tg.load %9 : tensor<i32, #tg.place<reg>> -> tensor<i32>
    // CHECK: %t = tg.store %11, %10 : tensor<i32, #tg.place<global>>, tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<1xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<3xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %c10 = tg.const 10 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %c0 : tensor<i32>
    %i = tg_legacy.loop from %c0 to %c3 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<3xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %p = tg_legacy.alu "BinaryOps.MUL" %acc, %c10 : tensor<i32>
    %s = tg_legacy.alu "BinaryOps.ADD" %p, %x : tensor<i32>
    %n = tg_legacy.phi %acc, %s over %i : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %e = tg_legacy.endloop %i : tensor<i32>
    %t = tg_legacy.store %out at %c0 value %n : tensor<1xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}
