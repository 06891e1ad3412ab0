// RUN: tg-opt %s | tg-opt | filecheck %s --match-full-lines

// Device and sharding axis of what ops on memory give, of moves between devices, and of calls.

func.func @memory(%m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %g: tensor<4x6xi1, #tg.place<["A", "B"], axis = 0>>, %i: tensor<4x6xi32, #tg.place<["A", "B"], global, axis = 0>>, %v: tensor<4x6xi32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %buffer = tg.buffer 0 : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>
  %buffer = tg.buffer 0 : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %load = tg.load %m : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %load = tg.load %m : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %gated = tg.load %m alt %x gate %g : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xi1, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %gated = tg.load %m alt %x gate %g : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xi1, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %store = tg.store %buffer, %x : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %store = tg.store %buffer, %x : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %whole = tg.store %buffer, %r : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"]>>
  %whole = tg.store %buffer, %r : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"]>>
  // CHECK: %after = tg.after %buffer, %store : (tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, !tg.void) -> tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>
  %after = tg.after %buffer, %store : (tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, !tg.void) -> tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %added = tg.atomicadd %i, %v : tensor<4x6xi32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xi32, #tg.place<["A", "B"], axis = 0>>
  %added = tg.atomicadd %i, %v : tensor<4x6xi32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xi32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

func.func @moves(%t: tensor<4x6xf32, #tg.place<"A">>, %x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %c: tensor<f32>) {
  // CHECK: %scattered = tg.copy %t to ["A", "B"] : tensor<4x6xf32, #tg.place<"A">> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %scattered = tg.copy %t to ["A", "B"] : tensor<4x6xf32, #tg.place<"A">> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %gathered = tg.copy %y to "B" : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xf32, #tg.place<"B">>
  %gathered = tg.copy %y to "B" : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xf32, #tg.place<"B">>
  // CHECK: %turned = tg.copy %y to ["A", "B"] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %turned = tg.copy %y to ["A", "B"] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %sliced = tg.copy %r to ["A", "B"] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %sliced = tg.copy %r to ["A", "B"] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %cloned = tg.copy %x to ["A", "B"] clone : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %cloned = tg.copy %x to ["A", "B"] clone : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %others = tg.copy %x to ["C", "D", "E", "F"] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["C", "D", "E", "F"], axis = 0>>
  %others = tg.copy %x to ["C", "D", "E", "F"] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["C", "D", "E", "F"], axis = 0>>
  // CHECK: %one = tg.copy %t to ["B"] : tensor<4x6xf32, #tg.place<"A">> -> tensor<4x6xf32, #tg.place<["B"], axis = 0>>
  %one = tg.copy %t to ["B"] : tensor<4x6xf32, #tg.place<"A">> -> tensor<4x6xf32, #tg.place<["B"], axis = 0>>
  func.return
}

func.func @calls(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %r: tensor<6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %f = tg.function(%x, %r) {
  // CHECK:   %s = tg.mul %p, %q : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: } : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>>
  %f = tg.function(%x, %r) {
    %p = tg.param 0 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
    %q = tg.param 1 : tensor<6xf32, #tg.place<["A", "B"]>>
    %s = tg.mul %p, %q : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
    %t = tg.tuple %s : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>>
  } : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>>
  // CHECK: %element = tg.gettuple %f 0 : !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %element = tg.gettuple %f 0 : !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}
