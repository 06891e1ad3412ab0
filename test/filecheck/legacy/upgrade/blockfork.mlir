// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[2, 4, 6, 8]> : tensor<4xi32>

// BLOCKFORK: several blocks come after one, which executes once. Two loops double what the first has stored, each for half of the cells.

tg.kernel @k {
  // CHECK-LABEL: tg.kernel @k {
  // CHECK: %3 = tg.end %s over %i : !tg.void
  // CHECK: %5 = tg.after %temp, %3
  // CHECK: %8 = tg.end %t over %j : !tg.void
  // CHECK: %14 = tg.end %u over %10 : !tg.void
  // CHECK-NEXT: %15 = tg.sink %3, %8, %14 : !tg.void, !tg.void, !tg.void
  %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
  %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
  %temp = tg_legacy.define_local "temp" : tensor<4xi32, #tg.place<local>>
  %zero = tg.const 0 : tensor<i32>
  %two = tg.const 2 : tensor<i32>
  %four = tg.const 4 : tensor<i32>
  %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
  %starti = tg_legacy.blockstart %i : tensor<i32>
  %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
  %s = tg_legacy.store %temp at %i value %x : tensor<4xi32, #tg.place<local>> at tensor<i32> value tensor<i32>
  %copy = tg_legacy.block %s after %starti : !tg.void
  %endi = tg_legacy.blockend %i after %copy : tensor<i32>
  %fork = tg_legacy.blockfork %endi 2
  %j = tg_legacy.range 1 from %zero to %two : tensor<i32>
  %startj = tg_legacy.blockstart %j : tensor<i32>
  %y = tg_legacy.load %temp at %j : tensor<4xi32, #tg.place<local>> at tensor<i32> -> tensor<i32>
  %yy = tg.add %y, %y : tensor<i32>
  %t = tg_legacy.store %out at %j value %yy : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  %left = tg_legacy.block %t after %fork, %startj : !tg.void
  %endj = tg_legacy.blockend %j after %left : tensor<i32>
  %k = tg_legacy.range 2 from %two to %four : tensor<i32>
  %startk = tg_legacy.blockstart %k : tensor<i32>
  %z = tg_legacy.load %temp at %k : tensor<4xi32, #tg.place<local>> at tensor<i32> -> tensor<i32>
  %zz = tg.add %z, %z : tensor<i32>
  %u = tg_legacy.store %out at %k value %zz : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  %right = tg_legacy.block %u after %fork, %startk : !tg.void
  %endk = tg_legacy.blockend %k after %right : tensor<i32>
  %last = tg_legacy.block after %endj, %endk
  %r = tg.sink %last : !tg.void
}
