// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[10]> : tensor<1xi32>

// ASSIGN of an accumulator is its next value: the loop reduces.

tg.program @sum {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @sum {
    // CHECK: %3 = tg.reduce add %x [] over %i : tensor<i32> -> tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<1xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %zero = tg.const 0 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %zero : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %s = tg.add %acc, %x : tensor<i32>
    %n = tg_legacy.assign %acc, %s : tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
    %st = tg_legacy.store %out at %zero value %n : tensor<1xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}
