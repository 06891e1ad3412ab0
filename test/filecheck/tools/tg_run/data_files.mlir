// Bytes of a file are part of the program, at every level and for every output. The text names the
// file by its place in the folder of the text, or in one that an option names.

// RUN: rm -rf %t.d && mkdir -p %t.d/weights && cp %s %t.d/a.mlir
// RUN: %python -c "open(r'%t.d/weights/w.bin', 'wb').write(bytes.fromhex('ff0000803f00000040'))"

// RUN: tg-run %t.d/a.mlir --input 2xf32=1 | filecheck %s
// RUN: tg-run %t.d/a.mlir --input 2xf32=1 --target c | filecheck %s
// RUN: tg-run %t.d/a.mlir --input 2xf32=1 --target interpreter | filecheck %s
// RUN: cd %t.d && tg-run - --input 2xf32=1 < a.mlir | filecheck %s
// RUN: tg-run %s --data-folder %t.d --input 2xf32=1 | filecheck %s
// RUN: tg-run %s --data-folder %t.d --input 2xf32=1 --target interpreter | filecheck %s
// RUN: tg-opt %s -p tg-callify,tg-rangeify -o %t.d/kernels.mlir && tg-run %t.d/kernels.mlir --input 2xf32=1 | filecheck %s
// RUN: tg-run %t.d/kernels.mlir --input 2xf32=1 --target interpreter | filecheck %s
// RUN: tg-run %t.d/kernels.mlir --print-signature | filecheck %s --check-prefix=SIGNATURE
// RUN: tg-opt %s -p tg-to-llvm -o %t.d/a.llvm && tg-run %t.d/a.llvm --allow-custom --input 2xf32=1 | filecheck %s
// RUN: tg-opt %s -t uops -o %t.d/a.uops && tg-run %t.d/a.uops --input 2xf32=1 | filecheck %s
// RUN: tg-run %t.d/a.mlir --print-memory | filecheck %s --check-prefix=MEMORY

// SIGNATURE:      input  0  %x: 2xf32
// SIGNATURE-NEXT: output 0  2xf32
// CHECK: dense<[2.0, 3.0]> : tensor<2xf32>
// MEMORY: persistent  buffers  mapped
// MEMORY: 8 bytes  0 bytes  0 bytes  24 bytes

// Without the file it is printed, and not run.

// RUN: rm %t.d/weights/w.bin
// RUN: tg-opt %t.d/a.mlir | filecheck %s --check-prefix=PRINTED
// RUN: tg-run %t.d/a.mlir --print-signature | filecheck %s --check-prefix=SIGNATURE
// RUN: not tg-run %t.d/a.mlir --input 2xf32=1 2>&1 | filecheck %s --check-prefix=ABSENT
// RUN: not tg-run %t.d/a.mlir --input 2xf32=1 --target interpreter 2>&1 | filecheck %s --check-prefix=ABSENT
// RUN: not tg-run %t.d/kernels.mlir --input 2xf32=1 2>&1 | filecheck %s --check-prefix=ARGUMENT
// RUN: not tg-compile %t.d/a.mlir -o %t.d/a.tgx 2>&1 | filecheck %s --check-prefix=ABSENT
// RUN: not tg-run %t.d/a.mlir --input 2xf32=1 --data-folder %t.none 2>&1 | filecheck %s --check-prefix=NONE
// PRINTED: tg.binary file "weights/w.bin", offset = 1, length = 8
// ABSENT:      a.mlir:[[# @LINE + 6]]:8: error: the file 'weights/w.bin' of the folder {{.*}}.d is not there: --data-folder and data_folder= name another folder
// ABSENT-NEXT:   %b = tg.binary file "weights/w.bin", offset = 1, length = 8 : tensor<8xui8>
// ARGUMENT: error: the file 'weights/w.bin' of the folder {{.*}}.d is not there
// NONE: argument --data-folder: there is no folder {{.*}}

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %b = tg.binary file "weights/w.bin", offset = 1, length = 8 : tensor<8xui8>
  %f = tg.bitcast %b to f32 : tensor<8xui8> -> tensor<2xf32>
  %r = tg.add %f, %x : tensor<2xf32>
  return %r : tensor<2xf32>
}
