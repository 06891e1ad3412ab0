// RUN: tg-run %s --input 1,2,3,4 --opt 'explicit:split 0, 4, upcast' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-split{axis=0 factor=2 target=upcast}' | tg-run - --input 1,2,3,4 | filecheck %s
// RUN: tg-opt %s -p tg-to-llvm | tg-run - --input 1,2,3,4 --allow-custom | filecheck %s
// CHECK: dense<[-1.0, -2.0, -3.0, -4.0]> : tensor<4xf32>

// RUN: not tg-run %s --input 1,2,3,4 --opt 'explicit:split 0, 3, upcast' 2>&1 | filecheck %s --check-prefix=ILLEGAL
// ILLEGAL: schedules.mlir:24:8: error: kernel @main_0: split 0, 3, upcast: range 0 to 4 is not made of parts of 3
// ILLEGAL-NEXT: %0 = tg.neg

// RUN: not tg-run %s --input 1,2,3,4 --opt 'explicit:twist 0' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN: tg-run: error: 'twist 0' is no OptOp: there are tc, split, padto

// RUN: not tg-run %s --input 1,2,3,4 --opt 'explicit:@k: nolocals' 2>&1 | filecheck %s --check-prefix=KERNEL
// KERNEL: tg-run: error: there is no kernel @k; there are: @main_0

// RUN: tg-opt %s -p tg-to-llvm -o %t.mlir
// RUN: not tg-run %t.mlir --input 1,2,3,4 2>&1 | filecheck %s --check-prefix=LLVM
// LLVM: error: at level llvm no stage checks memory accesses any more

// RUN: tg-opt %s -p tg-callify,tg-rangeify,tg-optimize,tg-expand -o %t.tiles.mlir
// RUN: tg-run %t.tiles.mlir --print-signature | filecheck %s --check-prefix=SIGNATURE
// SIGNATURE: input  0  %x: 4xf32
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
