// RUN: tg-opt %s -p cse,dce,canonicalize,tg-simplify | filecheck %s

// A LINEAR stays where it is, also one without effects: a function and a program have one.

// CHECK:      tg.program @nothing {
// CHECK-NEXT:   tg.linear {
// CHECK:      func.func @main
// CHECK-NEXT:   tg.linear {
tg.program @nothing {
  tg.linear {
    %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
    tg.sink
  }
}
func.func @main(%o: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  tg.linear {
    tg.call @nothing(%o) : (tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}
