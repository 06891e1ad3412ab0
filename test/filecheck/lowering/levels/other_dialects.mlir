// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-to-llvm,tg-verify{level=llvm})' --verify-each | filecheck %s
// RUN: tg-opt %s --split-input-file -p tg-simplify | filecheck %s --check-prefix=SAME
// RUN: tg-opt %s --split-input-file -p tg-explicit-broadcast,tg-decompose,tg-annotate-properties | filecheck %s --check-prefix=SAME

// Functions without an op of the dialect are left alone by every stage.

// CHECK:      func.func @helper(%x: f32) -> f32 {
// CHECK-NEXT:   %r = arith.addf %x, %x : f32
// CHECK-NEXT:   %unused = arith.mulf %x, %x : f32
// CHECK-NEXT:   func.return %r : f32
// CHECK:      func.func @caller(%x: f32) -> f32 {
// CHECK-NEXT:   %r = func.call @helper(%x) : (f32) -> f32
// CHECK:      func.func private @declared(memref<4xf32>)
// CHECK:      "memref.global"
// CHECK:      func.func @branches(
// CHECK:        cf.br ^{{.*}}
// CHECK:      llvm.func @main_0(
// CHECK:      llvm.func @main(

// SAME:      func.func @helper(%x: f32) -> f32 {
// SAME-NEXT:   %r = arith.addf %x, %x : f32
// SAME-NEXT:   %unused = arith.mulf %x, %x : f32
func.func @helper(%x: f32) -> f32 {
  %r = arith.addf %x, %x : f32
  %unused = arith.mulf %x, %x : f32
  func.return %r : f32
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %n = tg.neg %a : tensor<4xf32>
  func.return %n : tensor<4xf32>
}
func.func @caller(%x: f32) -> f32 {
  %r = func.call @helper(%x) : (f32) -> f32
  func.return %r : f32
}
func.func private @declared(memref<4xf32>)
"memref.global"() {"sym_name" = "table", "type" = memref<4xf32>, "initial_value" = dense<0.0> : tensor<4xf32>, "sym_visibility" = "private"} : () -> ()
func.func @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  func.return %x : tensor<4xf32>
}

// -----

// A function that only passes tensors on is one of ours.

// CHECK-LABEL: llvm.func @identity(
// CHECK-LABEL: llvm.func @forwards(
func.func @identity(%a: tensor<4xf32>) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}
func.func @forwards(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @identity(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
