// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[0, 1, 2, 3, 4, 0, 0, 0]> : tensor<8xi32>

// BIND as a source of a KERNEL: the argument of the call for the variable.

// CHECK-LABEL: tg.kernel @fill {
// CHECK: %n = tg.param 1 "n" min 1 max 8 : tensor<index>
// CHECK-NEXT: %i = tg.range 0 loop to %n : tensor<index>
func.func @main(%o: tensor<8xi32, #tg.place<"CPU", global>> {tg.output}) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %five = tg.const 5 : tensor<i32>
  // CHECK: %{{[0-9]+}} = tg.call @fill(%o, %{{[0-9]+}}) : (tensor<8xi32, #tg.place<"CPU", global>>, tensor<index>) -> !tg.void
  %n = tg_legacy.define_var "n" 1 to 8 : tensor<i32>
  %five = tg.const 5 : tensor<i32>
  %b = tg_legacy.bind %n, %five : tensor<i32>
  %k = tg_legacy.kernel "fill"(%o, %b) {
    %l = tg.linear {
      %0 = tg_legacy.define_global 0 : tensor<8xi32, #tg.place<global>>
      %m = tg_legacy.define_var "n" 1 to 8 : tensor<i32>
      %zero = tg.const 0 : tensor<i32>
      %i = tg_legacy.range 0 from %zero to %m : tensor<i32>
      %s = tg_legacy.store %0 at %i value %i : tensor<8xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
      %e = tg_legacy.endrange %i : tensor<i32>
    }
    %r = tg.sink %l : !tg.void
  } : (tensor<8xi32, #tg.place<"CPU", global>>, tensor<i32>) -> !tg.void
  %w = tg_legacy.assign %o, %k : (tensor<8xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<8xi32, #tg.place<"CPU", global>>
  %sink = tg.sink %w : tensor<8xi32, #tg.place<"CPU", global>>
  func.return
}
