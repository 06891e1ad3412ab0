// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 4,-5,6,-7 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 4,-5,6,-7 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[4, 1, 6, 3, 9]> : tensor<5xi32>

// STORE at a position: INDEX and STORE, gated. A later STORE to the same cell is AFTER the first.

tg.program @k {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @k {
    // CHECK: %i = tg.range 0 loop to %0 : tensor<index>
    // CHECK: %s = tg.store %1, %i_1 : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK: %g = tg.cmplt %c0, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK-NEXT: %3 = tg.after %out, %s
    // CHECK-NEXT: %4 = tg.index %3[%i]
    // CHECK-NEXT: %t = tg.store %4, %x gate %g : tensor<i32, #tg.place<global>>, tensor<i32>, tensor<i1>
    // CHECK: %6 = tg.end %5 over %i : !tg.void
    // CHECK: %u = tg.store %8, %nine : tensor<i32, #tg.place<global>>, tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<5xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %nine = tg.const 9 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %s = tg_legacy.store %out at %i value %i : tensor<5xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %g = tg.cmplt %c0, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = tg_legacy.store %out at %i value %x gate %g : tensor<5xi32, #tg.place<global>> at tensor<i32> value tensor<i32> gate tensor<i1>
    %e = tg_legacy.endrange %i : tensor<i32>
    %u = tg_legacy.store %out at %c4 value %nine : tensor<5xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}
