// RUN: tg-opt %s -p tg-callify,tg-rangeify --mlir-print-debuginfo | filecheck %s

// A kernel that computes nothing has the location of what it stores.

// CHECK: tg.store {{.*}} loc("{{.*}}location_of_copy.mlir":8:1)
// CHECK: loc("{{.*}}location_of_copy.mlir":8:1)

func.func @main(%x: tensor<1xf64>) -> tensor<1xf64> {
  return %x : tensor<1xf64>
}
