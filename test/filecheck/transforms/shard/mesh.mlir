// RUN: tg-opt %S/collectives.mlir -p tg-lower-shards,tg-raise-collectives,tg-shard-to-mesh --print-op-generic | filecheck %s

// The collectives under the names of LLVM 19, in the form that its `mlir-opt` reads. What it makes
// of them is in mesh_upstream.mlir.

// CHECK: "mesh.mesh"() {sym_name = "devices", shape = array<i64: 2>, tg.devices = ["A", "B"]} : () -> ()
// CHECK: "mesh.broadcast"(%{{.*}}) {mesh = @devices, mesh_axes = array<i16: 0>, root = array<i64: 0>} : (tensor<6xf32, #tg.place<"A">>) -> tensor<6xf32>
// CHECK: "mesh.reduce_scatter"(%{{.*}}) {mesh = @devices, mesh_axes = array<i16: 0>, reduction = #mesh.partial<max>, scatter_axis = 0 : index} : (tensor<4xf32>) -> tensor<2xf32>
