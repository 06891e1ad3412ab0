// RUN: tg-opt %s -t uops | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify)' -t uops | filecheck %s --check-prefix=KERNEL

// tinygrad's numbered listing: number, op, dtype, sources, argument.

func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<f32> {
  %0 = tg.mul %x, %y : tensor<3xf32>
  %1 = tg.reduce add %0 [0] : tensor<3xf32> -> tensor<1xf32>
  %2 = tg.reshape %1 [] : tensor<1xf32> -> tensor<f32>
  func.return %2 : tensor<f32>
}

// CHECK:      @main
// CHECK-NEXT:    0 Ops.PARAM            : dtypes.float (3,)            []                   0, x
// CHECK-NEXT:    1 Ops.PARAM            : dtypes.float (3,)            []                   1, y
// CHECK-NEXT:    2 Ops.MUL              : dtypes.float (3,)            [0, 1]
// CHECK-NEXT:    3 Ops.REDUCE           : dtypes.float (1,)            [2]                  add, (0)
// CHECK-NEXT:    4 Ops.RESHAPE          : dtypes.float                 [3]                  ()

// KERNEL:      @main_0
// KERNEL-NEXT:    0 Ops.PARAM            : dtypes.float.ptr             []                   0
// KERNEL-NEXT:    1 Ops.CONST            : dtypes.index                 []                   3
// KERNEL-NEXT:    2 Ops.RANGE            : dtypes.index                 [1]                  0, reduce
// KERNEL-NEXT:    3 Ops.PARAM            : dtypes.float.ptr (3,)        []                   1
// KERNEL-NEXT:    4 Ops.INDEX            : dtypes.float.ptr             [3, 2]
// KERNEL-NEXT:    5 Ops.LOAD             : dtypes.float                 [4]
