// Index arguments that are extents of arrays need not be given: they are read off the arrays.

// RUN: tg-run %s --entry halves --input 5xf32=3 | filecheck %s --check-prefix=HALF
// RUN: tg-run %s --entry halves --input 5xf32=3 --target interpreter | filecheck %s --check-prefix=HALF
// RUN: tg-run %s --entry halves --input 5 --input 5xf32=3 | filecheck %s --check-prefix=HALF
// RUN: tg-run %s --entry halves --arg n=5 --input 5xf32=3 | filecheck %s --check-prefix=HALF
// RUN: tg-opt %s -p tg-callify | tg-run - --entry halves --input 5xf32=3 | filecheck %s --check-prefix=HALF
// RUN: tg-opt %s -p tg-callify | tg-run - --entry halves --input 5xf32=3 --target interpreter | filecheck %s --check-prefix=HALF
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=none},tg-expand,tg-select,tg-linearize,tg-plan,tg-render' | tg-run - --allow-custom --entry halves --input 5xf32=3 | filecheck %s --check-prefix=HALF
// HALF: dense<[3.0, 3.0]> : tensor<2xf32>

// Those that are no extents are given.
// RUN: tg-run %s --entry parts --input 3 --input 4xf32=1,2,3,4 | filecheck %s --check-prefix=PARTS
// RUN: tg-run %s --entry parts --arg x=4xf32=1,2,3,4 --arg k=3 | filecheck %s --check-prefix=PARTS
// PARTS: dense<[1.0, 2.0, 3.0]> : tensor<3xf32>

// RUN: tg-run %s --entry product --print-signature | filecheck %s --check-prefix=SIGNATURE
// SIGNATURE:      @product
// SIGNATURE-NEXT:   input  0  %n: index (axis 1 of input 1 (%a))
// SIGNATURE-NEXT:   input  1  %a: 2x?xf32
// SIGNATURE-NEXT:   input  2  %b: ?x2xf32
// SIGNATURE-NEXT:   output 0  2x2xf32

// RUN: tg-run %s --entry halves --print-memory --arg x=8xf32=0 | filecheck %s --check-prefix=MEMORY
// MEMORY: CPU {{ +}}32 bytes  16 bytes
// MEMORY: n = 8

// RUN: not tg-run %s --entry product --input 2x3xf32=1 --input 4x2xf32=1 2>&1 | filecheck %s --check-prefix=EXTENT
// EXTENT: tg-run: error: input 2 (%b): axis 0 has 4 elements, but axis 1 of input 1 is 3
// RUN: not tg-run %s --entry product --input 3 --input 2x3xf32=1 --input 4x2xf32=1 2>&1 | filecheck %s --check-prefix=GIVEN
// GIVEN: tg-run: error: input 2 (%b): axis 0 has 4 elements, but input 0 is 3
// RUN: not tg-run %s --entry product --input 2x9xf32=1 --input 9x2xf32=1 2>&1 | filecheck %s --check-prefix=BOUND
// BOUND: tg-run: error: input 0 (%n): 9 is outside [1, 8]
// RUN: not tg-run %s --entry product --input 2x3xf32=1 2>&1 | filecheck %s --check-prefix=COUNT
// COUNT: tg-run: error: expected 3 inputs (2 without sizes), got 1: %n: index, %a: 2x?xf32, %b: ?x2xf32

func.func @halves(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %two = tg.const 2 : tensor<index>
  %half = tg.idiv %n, %two : tensor<index>
  %0 = tg.shrink %x at [0] to [%half] : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @parts(%n: tensor<index>, %k: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %0 = tg.shrink %x at [0] to [%k] : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @product(%n: tensor<index> {tg.min = 1 : index, tg.max = 8 : index},
                   %a: tensor<2x?xf32> {tg.dims = array<i64: 0>},
                   %b: tensor<?x2xf32> {tg.dims = array<i64: 0>}) -> tensor<2x2xf32> {
  %0 = tg.reshape %a [2, %n, 1] : tensor<2x?xf32> -> tensor<2x?x1xf32>
  %1 = tg.mul %0, %b : (tensor<2x?x1xf32>, tensor<?x2xf32>) -> tensor<2x?x2xf32>
  %2 = tg.reduce add %1 [1] : tensor<2x?x2xf32> -> tensor<2x1x2xf32>
  %3 = tg.reshape %2 [2, 2] : tensor<2x1x2xf32> -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}
