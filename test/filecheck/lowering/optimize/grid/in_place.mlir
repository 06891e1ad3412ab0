// RUN: tg-opt %s -p 'tg-padto{axis=0 multiple=64 clamp=true},tg-verify{level=kernels}' | filecheck %s
// RUN: sed 's/"opencl"/"cpu"/' %s | tg-opt -p 'tg-padto{axis=0 multiple=64 clamp=true}' | filecheck %s --check-prefix=CPU

// A kernel that updates memory in place: a padded iteration of a grid does not read a cell that
// another workgroup writes. On a CPU it reads the last one, and drops what it computes.

// CHECK: %[[IN:.*]] = tg.cmplt %i, 
// CHECK: tg.load %{{.*}} alt %{{.*}} gate %[[IN]]
// CHECK: tg.store %{{.*}}, %{{.*}} gate %[[IN]]
// CPU: %[[IN:.*]] = tg.cmplt %i, 
// CPU-NOT: alt
// CPU: tg.store %{{.*}}, %{{.*}} gate %[[IN]]

module attributes {tg.target = #tg.target<"opencl">} {
tg.kernel @k {
  %x = tg.param 0 : tensor<60xf32, #tg.place<global>>
  %c60 = tg.const 60 : tensor<index>
  %i = tg.range 0 global to %c60 : tensor<index>
  %at = tg.index %x[%i] : (tensor<60xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %old = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %new = tg.exp2 %old : tensor<f32>
  %s = tg.store %at, %new : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %sink = tg.sink %e : !tg.void
}
}
