// A CALL of a function without results stands for what the function stores: AFTER it, its STOREs have been executed.

// RUN: tg-opt %s -p tg-callify --verify-each=true | filecheck %s
// RUN: tg-run %s --entry main --input 0 --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --entry main --input 0 --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[1, 2, 3, 4]> : tensor<4xi32>

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %s = tg.store %o, %x
// CHECK: tg.after %o,
// CHECK: tg.store %out0,
func.func private @f(%o: tensor<4xi32, #tg.place<"CPU", global>>, %x: tensor<4xi32>) {
  %s = tg.store %o, %x : tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32>
  %k = tg.sink %s : !tg.void
  func.return
}
func.func @main(%o: tensor<4xi32, #tg.place<"CPU", global>>, %x: tensor<4xi32>) -> tensor<4xi32, #tg.place<"CPU">> {
  %c = tg.call @f(%o, %x) : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32>) -> !tg.void
  %a = tg.after %o, %c : (tensor<4xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xi32, #tg.place<"CPU", global>>
  %r = tg.load %a : tensor<4xi32, #tg.place<"CPU", global>> -> tensor<4xi32, #tg.place<"CPU">>
  func.return %r : tensor<4xi32, #tg.place<"CPU">>
}
