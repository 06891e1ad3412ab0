// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<{{\[\[}}3, 7]]> : tensor<1x2xi32>

// KERNEL with loops: a call of a `tg.kernel`. A buffer of another shape is passed as one of the kernel's.

// CHECK-LABEL: tg.kernel @rows {
// CHECK-NEXT: %{{[0-9]+}} = tg.param 0 : tensor<2xi32, #tg.place<global>>
// CHECK-NEXT: %{{[0-9]+}} = tg.param 1 : tensor<4xi32, #tg.place<global>>
// CHECK: %{{[0-9]+}} = tg.reduce add %v [] over %j : tensor<i32> -> tensor<i32>
// CHECK: %st = tg.store %{{[0-9]+}}, %{{[0-9]+}} : tensor<i32, #tg.place<global>>, tensor<i32>
func.func @main(%x: tensor<2x2xi32, #tg.place<"CPU", global>>, %o: tensor<1x2xi32, #tg.place<"CPU", global>> {tg.output}) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %{{[0-9]+}} = tg.reshape %o [2]
  // CHECK-NEXT: %{{[0-9]+}} = tg.reshape %x [4]
  // CHECK-NEXT: %{{[0-9]+}} = tg.call @rows(%{{[0-9]+}}, %{{[0-9]+}})
  // CHECK-NEXT: %w = tg.after %o, %{{[0-9]+}}
  %k = tg_legacy.kernel "rows"(%o, %x) {
    %0 = tg_legacy.define_global 0 : tensor<2xi32, #tg.place<global>>
    %1 = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c2 : tensor<i32>
    %j = tg_legacy.range 1 from %c0 to %c2 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %c0 over %j : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %r = tg.mul %i, %c2 : tensor<i32>
    %p = tg.add %r, %j : tensor<i32>
    %xp = tg_legacy.index %1, %p : (tensor<4xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %v = tg_legacy.load %xp : tensor<i32, #tg.place<global>> -> tensor<i32>
    %s = tg.add %acc, %v : tensor<i32>
    %n = tg_legacy.assign %acc, %s : tensor<i32>
    %op = tg_legacy.index %0, %i : (tensor<2xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %st = tg_legacy.store %op value %n : tensor<i32, #tg.place<global>> value tensor<i32>
    %sink = tg.sink %st : !tg.void
  } : (tensor<1x2xi32, #tg.place<"CPU", global>>, tensor<2x2xi32, #tg.place<"CPU", global>>) -> !tg.void
  %w = tg_legacy.assign %o, %k : (tensor<1x2xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<1x2xi32, #tg.place<"CPU", global>>
  %sink = tg.sink %w : tensor<1x2xi32, #tg.place<"CPU", global>>
  func.return
}
