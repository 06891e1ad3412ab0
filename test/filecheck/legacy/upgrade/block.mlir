// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[2, 4, 6, 8]> : tensor<4xi32>

// BLOCK: ops in a row, after those of other blocks. The blocks say the order, not the text: the second loop doubles what the first has
// stored.

tg.kernel @k {
  // CHECK-LABEL: tg.kernel @k {
  // CHECK: %temp = tg.buffer 0 : tensor<4xi32, #tg.place<local>>
  // CHECK: %i = tg.range 0 loop to %0 : tensor<index>
  // CHECK: %s = tg.store %2, %x : tensor<i32, #tg.place<local>>, tensor<i32>
  // CHECK-NEXT: %3 = tg.end %s over %i : !tg.void
  // CHECK: %4 = tg.after %temp, %3
  // CHECK: %y = tg.load %5 : tensor<i32, #tg.place<local>> -> tensor<i32>
  // CHECK-NEXT: %yy = tg.add %y, %y : tensor<i32>
  // CHECK: %t = tg.store %6, %yy : tensor<i32, #tg.place<global>>, tensor<i32>
  // CHECK-NEXT: %7 = tg.end %t over %j : !tg.void
  // CHECK-NEXT: %8 = tg.sink %3, %7 : !tg.void, !tg.void
  %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
  %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
  %temp = tg_legacy.define_local "temp" : tensor<4xi32, #tg.place<local>>
  %zero = tg.const 0 : tensor<i32>
  %four = tg.const 4 : tensor<i32>
  %j = tg_legacy.range 1 from %zero to %four : tensor<i32>
  %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
  %starti = tg_legacy.blockstart %i : tensor<i32>
  %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
  %s = tg_legacy.store %temp at %i value %x : tensor<4xi32, #tg.place<local>> at tensor<i32> value tensor<i32>
  %first = tg_legacy.block %s after %starti : !tg.void
  %endi = tg_legacy.blockend %i after %first : tensor<i32>
  %second = tg_legacy.block after %endi
  %startj = tg_legacy.blockstart %j : tensor<i32>
  %y = tg_legacy.load %temp at %j : tensor<4xi32, #tg.place<local>> at tensor<i32> -> tensor<i32>
  %yy = tg.add %y, %y : tensor<i32>
  %t = tg_legacy.store %out at %j value %yy : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  %third = tg_legacy.block %t after %second, %startj : !tg.void
  %endj = tg_legacy.blockend %j after %third : tensor<i32>
  %r = tg.sink %endj : !tg.void
}
