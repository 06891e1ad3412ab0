// REQUIRES: mlir
// RUN: tg-opt %S/collectives.mlir -p tg-lower-shards,tg-raise-collectives,tg-shard-to-mesh --print-op-generic | mlir-opt --allow-unregistered-dialect | filecheck %s
// RUN: tg-opt %s -p tg-lower-shards,tg-shard-to-mesh --print-op-generic | mlir-opt --allow-unregistered-dialect | filecheck %s --check-prefix=NUMBERS

// Upstream's own assembly of the collectives: it knows and has verified them.

// CHECK: mesh.mesh @devices(shape = 2) {tg.devices = ["A", "B"]}
// CHECK: mesh.broadcast %{{.*}} on @devices mesh_axes = [0] root = [0] : (tensor<6xf32, #tg.place<"A">>) -> tensor<6xf32>
// CHECK: mesh.scatter %{{.*}} on @devices mesh_axes = [0] scatter_axis = 0 root = [1]
// CHECK: mesh.gather %{{.*}} on @devices mesh_axes = [0] gather_axis = 0 root = [0]
// CHECK: mesh.reduce %{{.*}} on @devices mesh_axes = [0] root = [0]
// CHECK: mesh.all_gather %{{.*}} on @devices mesh_axes = [0] gather_axis = 0 : tensor<3xf32> -> tensor<6xf32>
// CHECK: mesh.reduce_scatter %{{.*}} on @devices mesh_axes = [0] reduction = <max> scatter_axis = 0
// CHECK: mesh.all_reduce %{{.*}} on @devices mesh_axes = [0]

// Properties that are plain numbers in xDSL are integers.
// NUMBERS: "tg.param"() {slot = 0 : i64}
// NUMBERS: mesh.all_slice
func.func @numbers() -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>> {
  %0 = tg.param 0 : tensor<4xf32>
  %1 = tg.copy %0 to ["A", "B"] : tensor<4xf32> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return %1 : tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
}
