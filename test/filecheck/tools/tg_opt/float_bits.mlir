// RUN: tg-opt %s | tg-opt | filecheck %s
// RUN: tg-opt %s -t llvm | filecheck %s --check-prefix=LLVM

// A hexadecimal element of a dense literal of floats is the bits of one: 12583038, not 1262485630.

// CHECK: llvm.mlir.constant(dense<0x4B40007E> : vector<4xf32>)
// CHECK: llvm.mlir.constant(dense<[0x4B40007E, 1.000000e+00]> : vector<2xf32>)
// LLVM: float 0x4168000FC0000000
llvm.func @f() -> vector<4xf32> {
  %0 = llvm.mlir.constant(dense<0x4B40007E> : vector<4xf32>) : vector<4xf32>
  %1 = llvm.mlir.constant(dense<[0x4B40007E, 1.0]> : vector<2xf32>) : vector<2xf32>
  llvm.return %0 : vector<4xf32>
}
