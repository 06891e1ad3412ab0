// RUN: tg-opt %s -p 'tg-verify{level=function},tg-rangeify' | filecheck %s

// A read without AFTER comes before the STORE, of a BUFFER with a dynamic extent too.

// CHECK-LABEL: func.func @main
// CHECK:         %[[OLD:.*]] = tg.call @main_0(%o, %n, %b)
// CHECK:         %[[FREE:.*]] = tg.after %b, %[[OLD]]
// CHECK:         tg.call @main_1(%n, %[[FREE]])
func.func @main(%n: tensor<index>, %o: tensor<4xf32, #tg.place<"CPU", global>>) {
  %b = tg.buffer 0 (%n) : tensor<?xf32, #tg.place<"CPU", global>>
  %c = tg.const 1.0 : tensor<f32>
  %one = tg.reshape %c [1] : tensor<f32> -> tensor<1xf32>
  %v = tg.expand %one [%n] : tensor<1xf32> -> tensor<?xf32>
  %s = tg.store %b, %v : tensor<?xf32, #tg.place<"CPU", global>>, tensor<?xf32>
  %a = tg.after %b, %s : (tensor<?xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<?xf32, #tg.place<"CPU", global>>
  %h = tg.shrink %b at [0] to [4] : tensor<?xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  %f = tg.neg %h : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  %t = tg.store %o, %f : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
  tg.sink %s, %t : !tg.void, !tg.void
  func.return
}
