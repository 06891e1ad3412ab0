// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-decompose)' | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-decompose{ops=sub,cmpge})' | filecheck %s --check-prefix=CHOSEN
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-decompose{ops=sub soft-casts=true})' | filecheck %s --check-prefix=SOFT

// The specification's table, op by op.

// CHECK-LABEL: func.func @arithmetic
// CHECK:       %[[#M1:]] = tg.const -1.000000e+00 : tensor<f32>
// CHECK-NEXT:  %[[#NEG:]] = tg.mul %b, %[[#M1]] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:  %[[#SUB:]] = tg.add %a, %[[#NEG]] : tensor<4xf32>
// CHECK-NEXT:  %[[#RECIP:]] = tg.recip %b : tensor<4xf32>
// CHECK-NEXT:  %[[#DIV:]] = tg.mul %[[#SUB]], %[[#RECIP]] : tensor<4xf32>
// CHECK-NEXT:  %[[#MUL:]] = tg.mul %[[#DIV]], %a : tensor<4xf32>
// CHECK-NEXT:  %[[#ACC:]] = tg.add %[[#MUL]], %b : tensor<4xf32>
// CHECK-NEXT:  func.return %[[#ACC]]

// CHOSEN-LABEL: func.func @arithmetic
// CHOSEN-NEXT:  %[[#NEG:]] = tg.neg %b : tensor<4xf32>
// CHOSEN-NEXT:  %[[#SUB:]] = tg.add %a, %[[#NEG]] : tensor<4xf32>
// CHOSEN-NEXT:  %[[#DIV:]] = tg.div %[[#SUB]], %b : tensor<4xf32>
// CHOSEN-NEXT:  tg.mulacc %[[#DIV]], %a, %b : tensor<4xf32>
func.func @arithmetic(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.sub %a, %b : tensor<4xf32>
  %1 = tg.div %0, %b : tensor<4xf32>
  %2 = tg.mulacc %1, %a, %b : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @comparisons
// CHECK-NEXT:  %[[#GT:]] = tg.cmplt %b, %a : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
// CHECK-NEXT:  %[[#LT:]] = tg.cmplt %a, %b
// CHECK-NEXT:  %[[#TRUE:]] = tg.const true : tensor<i1>
// CHECK-NEXT:  %[[#GE:]] = tg.cmpne %[[#LT]], %[[#TRUE]] : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
// CHECK-NEXT:  %[[#LT2:]] = tg.cmplt %b, %a
// CHECK-NEXT:  %[[#TRUE2:]] = tg.const true : tensor<i1>
// CHECK-NEXT:  %[[#LE:]] = tg.cmpne %[[#LT2]], %[[#TRUE2]]
// CHECK-NEXT:  %[[#NE:]] = tg.cmpne %a, %b
// CHECK-NEXT:  %[[#TRUE3:]] = tg.const true : tensor<i1>
// CHECK-NEXT:  %[[#EQ:]] = tg.cmpne %[[#NE]], %[[#TRUE3]]
// CHECK-NEXT:  func.return %[[#GT]], %[[#GE]], %[[#LE]], %[[#EQ]]

// CHOSEN-LABEL: func.func @comparisons
// CHOSEN-NEXT:  tg.cmpgt
// CHOSEN-NEXT:  tg.cmplt %a, %b
// CHOSEN-NEXT:  tg.const true
// CHOSEN-NEXT:  tg.cmpne
// CHOSEN-NEXT:  tg.cmple
// CHOSEN-NEXT:  tg.cmpeq
func.func @comparisons(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %0 = tg.cmpgt %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = tg.cmpge %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %2 = tg.cmple %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %3 = tg.cmpeq %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  func.return %0, %1, %2, %3 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// f16 is computed in f32; no decomposed op is left.

// CHECK-LABEL: func.func @exp2
// CHECK-NEXT:  tg.cast %x to f32 : tensor<2x3xf16> -> tensor<2x3xf32>
// CHECK-NOT:   tg.{{sub|neg|mulacc|exp2|cmpgt}}
// CHECK:       tg.cast %{{.*}} to f16 : tensor<2x3xf32> -> tensor<2x3xf16>
// CHECK-NEXT:  func.return
func.func @exp2(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %0 = tg.exp2 %x : tensor<2x3xf16>
  func.return %0 : tensor<2x3xf16>
}

// SOFT-LABEL: func.func @soft_cast
// SOFT-NEXT:  %[[#BITS:]] = tg.bitcast %x to ui16 : tensor<4xbf16> -> tensor<4xui16>
// SOFT-NEXT:  %[[#WIDE:]] = tg.cast %[[#BITS]] to ui32 : tensor<4xui16> -> tensor<4xui32>
// SOFT-NEXT:  %[[#C16:]] = tg.const 16 : tensor<ui32>
// SOFT-NEXT:  %[[#HIGH:]] = tg.shl %[[#WIDE]], %[[#C16]] : (tensor<4xui32>, tensor<ui32>) -> tensor<4xui32>
// SOFT-NEXT:  %[[#VALUE:]] = tg.bitcast %[[#HIGH]] to f32 : tensor<4xui32> -> tensor<4xf32>
// SOFT-NEXT:  func.return %[[#VALUE]]

// CHECK-LABEL: func.func @soft_cast
// CHECK-NEXT:  tg.cast %x to f32 : tensor<4xbf16> -> tensor<4xf32>
func.func @soft_cast(%x: tensor<4xbf16>) -> tensor<4xf32> {
  %0 = tg.cast %x to f32 : tensor<4xbf16> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// Of a narrow float only the last result is rounded: 0 / 0 is no 0 * 448, and a * b may be beyond its range.

// CHECK-LABEL: func.func @narrow
// CHECK:       tg.cast %a to f32
// CHECK:       tg.recip {{.*}} : tensor<f32>
// CHECK-NEXT:  tg.mul {{.*}} : tensor<f32>
// CHECK-NEXT:  tg.cast {{.*}} to f8E4M3FN
// CHECK:       [[PRODUCT:%.*]] = tg.mul {{.*}} : tensor<f32>
// CHECK-NEXT:  tg.add [[PRODUCT]], {{.*}} : tensor<f32>
func.func @narrow(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>) -> (tensor<f8E4M3FN>, tensor<f8E4M3FN>) {
  %0 = tg.div %a, %b : tensor<f8E4M3FN>
  %1 = tg.mulacc %a, %b, %b : tensor<f8E4M3FN>
  func.return %0, %1 : tensor<f8E4M3FN>, tensor<f8E4M3FN>
}
