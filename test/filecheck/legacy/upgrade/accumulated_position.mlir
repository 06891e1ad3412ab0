// RUN: tg-run %s --target interpreter | filecheck %s
// RUN: tg-run %s --target cpu | filecheck %s

// An accumulator as a position is its value at that point: 1, 3 and 5.

// CHECK: dense<[0, 7, 0, 2, 0, 1, 0, 0]> : tensor<8xi32>

tg.program @k {
  %l = tg.linear {
    %o = tg_legacy.define_global 0 : tensor<8xi32, #tg.place<global>>
    %one = tg.const 1 : tensor<i32>
    %two = tg.const 2 : tensor<i32>
    %seven = tg.const 7 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %one : tensor<i32>
    %s0 = tg_legacy.store %o at %acc value %seven : tensor<8xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %new = tg.add %acc, %two : tensor<i32>
    %a = tg_legacy.assign %acc, %new : tensor<i32>
    %s1 = tg_legacy.store %o at %acc value %two : tensor<8xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %new2 = tg.add %a, %two : tensor<i32>
    %a2 = tg_legacy.assign %a, %new2 : tensor<i32>
    %s2 = tg_legacy.store %o at %a value %one : tensor<8xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}
