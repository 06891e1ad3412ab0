// RUN: tg-opt %s -p tg-linearize --verify-each=true | filecheck %s

// The calls of a function in order, after the buffers and views that they use. @read reads %a as it
// was before @fill: nothing says so but the versions of %a.

tg.kernel @fill {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %one = tg.const 1.0 : tensor<f32>
  %s = tg.store %o, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}
tg.kernel @read {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %x = tg.param 1 : tensor<f32, #tg.place<global>>
  %v = tg.load %x : tensor<f32, #tg.place<global>> -> tensor<f32>
  %s = tg.store %o, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %b = tg.buffer 0
// CHECK-NEXT:    %v = tg.reshape %a []
// CHECK-NEXT:    tg.linear {
// CHECK-NEXT:      tg.call @read(%b, %v)
// CHECK-NEXT:      tg.call @fill(%v)
// CHECK-NEXT:      tg.call @read(%r, %b)
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @main(%a: tensor<1xf32, #tg.place<"CPU", global>>, %r: tensor<f32, #tg.place<"CPU", global>>) {
  %b = tg.buffer 0 : tensor<f32, #tg.place<"CPU", global>>
  %v = tg.reshape %a [] : tensor<1xf32, #tg.place<"CPU", global>> -> tensor<f32, #tg.place<"CPU", global>>
  %0 = tg.call @fill(%v) : tensor<f32, #tg.place<"CPU", global>> -> !tg.void
  %1 = tg.call @read(%b, %v) : (tensor<f32, #tg.place<"CPU", global>>, tensor<f32, #tg.place<"CPU", global>>) -> !tg.void
  %b1 = tg.after %b, %1 : (tensor<f32, #tg.place<"CPU", global>>, !tg.void) -> tensor<f32, #tg.place<"CPU", global>>
  %2 = tg.call @read(%r, %b1) : (tensor<f32, #tg.place<"CPU", global>>, tensor<f32, #tg.place<"CPU", global>>) -> !tg.void
  %3 = tg.sink %0, %2 : !tg.void, !tg.void
  func.return
}

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    tg.linear {
// CHECK:         func.return
func.func @nothing() {
  %0 = "tg.sink"() : () -> !tg.void
  func.return
}
