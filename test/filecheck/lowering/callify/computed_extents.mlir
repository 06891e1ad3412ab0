// RUN: tg-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tg-callify,tg-verify{level=function})' | filecheck %s

// An extent of a result that is computed from index arguments becomes an index argument that says how. No caller
// passes it.

// CHECK-LABEL: func.func @halves
// CHECK-SAME:  %half: tensor<index> {tg.computed = "%0 2 idiv", tg.min = 0 : index, tg.max = 32 : index}
// CHECK-SAME:  %out0: tensor<?xf32, #tg.place<"CPU", global>> {tg.output, tg.dims = array<i64: 2>}
func.func @halves(%n: tensor<index> {tg.min = 0 : index, tg.max = 64 : index},
                  %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %two = tg.const 2 : tensor<index>
  %half = tg.idiv %n, %two : tensor<index>
  %0 = tg.shrink %x at [0] to [%half] : tensor<?xf32> -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
// CHECK: %[[VALUE:.*]] = tg.shrink %{{.*}} at [0] to [%half]
// CHECK: tg.store %out0, %[[VALUE]]

// -----

// Equal extents are one argument, however they are computed. One that an argument has is that argument.

// CHECK-LABEL: func.func @equal
// CHECK-SAME:  (%n: tensor<index>, %x: tensor<?xf32, #tg.place<"CPU", global>> {tg.dims = array<i64: 0>}
// CHECK-SAME:  %twice: tensor<index> {tg.computed = "2 %0 mul",
// CHECK-SAME:  %out0: {{[^{]*}} {tg.output, tg.dims = array<i64: 2>}
// CHECK-SAME:  %out1: {{[^{]*}} {tg.output, tg.dims = array<i64: 2>}
// CHECK-SAME:  %out2: {{[^{]*}} {tg.output, tg.dims = array<i64: 0>}
// CHECK-SAME:  )
func.func @equal(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>})
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %two = tg.const 2 : tensor<index>
  %twice = tg.mul %n, %two : tensor<index>
  %sum = tg.add %n, %n : tensor<index>
  %one = tg.sub %sum, %n : tensor<index>
  %0 = tg.pad %x at [0] to [%twice] fill 0.0 : f32 : tensor<?xf32> -> tensor<?xf32>
  %1 = tg.pad %x at [%n] to [%sum] fill 0.0 : f32 : tensor<?xf32> -> tensor<?xf32>
  %2 = tg.shrink %x at [0] to [%one] : tensor<?xf32> -> tensor<?xf32>
  func.return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// So do the extents of PARAMs and BUFFERs. A BINARY that is not needed takes no position.

// CHECK-LABEL: func.func @leaves
// CHECK-SAME:  %n: tensor<index> {tg.name = "n"}
// CHECK-SAME:  %x: {{[^{]*}} {tg.dims = array<i64: 3>}
// CHECK-SAME:  %state: {{[^{]*}} {tg.buffer = 0 : i64, tg.dims = array<i64: 4>}
// CHECK-SAME:  %more: tensor<index> {tg.computed = "%0 1 add",
// CHECK-SAME:  %twice: tensor<index> {tg.computed = "2 %0 mul",
// CHECK-SAME:  %out0: {{[^{]*}} {tg.output, tg.dims = array<i64: 3>}
func.func @leaves() -> tensor<?xf32> {
  %n = tg.param 0 "n" : tensor<index>
  %one = tg.const 1 : tensor<index>
  %more = tg.add %n, %one : tensor<index>
  %twice = tg.add %n, %n : tensor<index>
  %x = tg.param 1 (%more) : tensor<?xf32>
  %state = tg.buffer 0(%twice) : tensor<?xf32, #tg.place<"CPU", global>>
  %unused = tg.binary "00000000" : tensor<4xui8>
  %z = tg.neg %state : tensor<?xf32, #tg.place<"CPU", global>> -> tensor<?xf32, #tg.place<"CPU">>
  %s = tg.store %state, %z : tensor<?xf32, #tg.place<"CPU", global>>, tensor<?xf32, #tg.place<"CPU">>
  %y = tg.neg %x : tensor<?xf32>
  func.return %y : tensor<?xf32>
}
// CHECK: tg.shrink %x at [0] to [%{{.*}}]
// CHECK: tg.shrink %state at [0] to [%{{.*}}]

// -----

// An extent that many ops compute is an argument for each few of them, so that expressions stay short.

// CHECK-LABEL: func.func @deep
// CHECK-SAME:  %l: tensor<index> {tg.computed = "%0 3 idiv %0 5 mod max 7 idiv %0 3 idiv {{[^"]*}}"}
// CHECK-SAME:  %p: tensor<index> {tg.computed = "%2 3 idiv %2 5 mod max",
func.func @deep(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %three = tg.const 3 : tensor<index>
  %five = tg.const 5 : tensor<index>
  %seven = tg.const 7 : tensor<index>
  %nine = tg.const 9 : tensor<index>
  %a = tg.idiv %n, %three : tensor<index>
  %b = tg.mod %n, %five : tensor<index>
  %c = tg.max %a, %b : tensor<index>
  %d = tg.idiv %c, %seven : tensor<index>
  %e = tg.mod %c, %nine : tensor<index>
  %f = tg.max %d, %e : tensor<index>
  %g = tg.idiv %f, %three : tensor<index>
  %h = tg.mod %f, %five : tensor<index>
  %i = tg.max %g, %h : tensor<index>
  %j = tg.idiv %i, %seven : tensor<index>
  %k = tg.mod %i, %nine : tensor<index>
  %l = tg.max %j, %k : tensor<index>
  %m = tg.idiv %l, %three : tensor<index>
  %o = tg.mod %l, %five : tensor<index>
  %p = tg.max %m, %o : tensor<index>
  %0 = tg.shrink %x at [0] to [%p] : tensor<?xf32> -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// An extent of a value that a function returns is known once its call is substituted.

// CHECK-LABEL: func.func @calls
// CHECK-SAME:  {tg.computed = "%0 2 idiv",
func.func private @half(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %two = tg.const 2 : tensor<index>
  %half = tg.idiv %n, %two : tensor<index>
  %0 = tg.shrink %x at [0] to [%half] : tensor<?xf32> -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
func.func @calls(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %0 = func.call @half(%n, %x) : (tensor<index>, tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}

// -----

// A `?` of unknown origin is none.

// expected-error@below {{the dynamic dimensions of arguments, results, PARAMs and BUFFERs are index arguments, or computed from them: name the extent by an index argument}}
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tg.neg %x : tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
