// The bytes of a BINARY are part of the program, at every level and for every output: nobody passes them.

// RUN: tg-run %s --input 2xf32=1 | filecheck %s
// RUN: tg-run %s --input 2xf32=1 --target c | filecheck %s
// RUN: tg-run %s --input 2xf32=1 --target interpreter | filecheck %s
// RUN: tg-opt %s -p tg-callify,tg-rangeify -o %t.kernels.mlir && tg-run %t.kernels.mlir --input 2xf32=1 | filecheck %s
// RUN: tg-run %t.kernels.mlir --input 2xf32=1 --target interpreter | filecheck %s
// RUN: tg-run %t.kernels.mlir --print-signature | filecheck %s --check-prefix=SIGNATURE
// RUN: tg-opt %s -p tg-to-llvm -o %t.llvm && tg-run %t.llvm --allow-custom --input 2xf32=1 | filecheck %s
// RUN: tg-opt %s -t uops -o %t.uops && tg-run %t.uops --input 2xf32=1 | filecheck %s
// RUN: tg-opt %s -p tg-to-source -t c | filecheck %s --check-prefix=C

// SIGNATURE:      input  0  %x: 2xf32
// SIGNATURE-NEXT: output 0  2xf32
// CHECK: dense<[2.0, 3.0]> : tensor<2xf32>
// C: void main_(const float *x, const float *data, float *out0) {

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %b = tg.binary "0000803f00000040" : tensor<8xui8>
  %f = tg.bitcast %b to f32 : tensor<8xui8> -> tensor<2xf32>
  %r = tg.add %f, %x : tensor<2xf32>
  return %r : tensor<2xf32>
}
