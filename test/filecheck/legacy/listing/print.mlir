// RUN: tg-opt %s -t uops | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify)' -t uops | filecheck %s --check-prefix=KERNEL
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=none},tg-expand,tg-select,tg-linearize)' -t uops | filecheck %s --check-prefix=PROGRAM

// tinygrad's numbered listing: number, op, dtype, sources, argument.

func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<f32> {
  %0 = tg.mul %x, %y : tensor<3xf32>
  %1 = tg.reduce add %0 [0] : tensor<3xf32> -> tensor<1xf32>
  %2 = tg.reshape %1 [] : tensor<1xf32> -> tensor<f32>
  func.return %2 : tensor<f32>
}

// CHECK:      func @main
// CHECK-NEXT:    0 Ops.PARAM            : dtypes.float.vec(3)                  []                   0, %x
// CHECK-NEXT:    1 Ops.PARAM            : dtypes.float.vec(3)                  []                   1, %y
// CHECK-NEXT:    2 Ops.MUL              : dtypes.float.vec(3)                  [0, 1]
// CHECK-NEXT:    3 Ops.REDUCE           : dtypes.float.vec(1)                  [2]                  add, (0)
// CHECK-NEXT:    4 Ops.RESHAPE          : dtypes.float                         [3]                  ()
// CHECK-NEXT:    5 Ops.FUNC.RETURN      : dtypes.void                          [4]

// KERNEL:      kernel @main_0
// KERNEL-NEXT:    0 Ops.PARAM            : dtypes.float.ptr()                   []                   0, %out0
// KERNEL-NEXT:    1 Ops.CONST            : dtypes.index                         []                   3
// KERNEL-NEXT:    2 Ops.RANGE            : dtypes.index                         [1]                  0, reduce
// KERNEL-NEXT:    3 Ops.PARAM            : dtypes.float.ptr(3)                  []                   1, %x
// KERNEL-NEXT:    4 Ops.INDEX            : dtypes.float.ptr()                   [3, 2]
// KERNEL-NEXT:    5 Ops.LOAD             : dtypes.float                         [4]

// PROGRAM:      @main_0
// PROGRAM:         {{[0-9]+}} Ops.BUFFER           : dtypes.float.ptr(1, AddrSpace.REG)   []                   0, %acc
// PROGRAM:         {{[0-9]+}} Ops.END              : dtypes.void
// PROGRAM:         {{[0-9]+}} Ops.SINK             : dtypes.void                          {{\[[0-9]+\]}} {{ +}}opts=[]
// PROGRAM-NEXT: func @main
// PROGRAM-NEXT:    0 Ops.PARAM            : dtypes.float.ptr(3, device='CPU')    []                   0, %x
// PROGRAM-NEXT:    1 Ops.PARAM            : dtypes.float.ptr(3, device='CPU')    []                   1, %y
// PROGRAM-NEXT:    2 Ops.PARAM            : dtypes.float.ptr(device='CPU')       []                   2, %out0, {tg.output}
// PROGRAM-NEXT:    3 Ops.CALL             : dtypes.void                          [2, 0, 1]            @main_0
// PROGRAM-NEXT:    4 Ops.LINEAR           : dtypes.void                          [3]
// PROGRAM-NEXT:    5 Ops.FUNC.RETURN      : dtypes.void                          []
