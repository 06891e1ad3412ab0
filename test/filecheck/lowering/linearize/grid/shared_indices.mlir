// RUN: tg-opt %s -p tg-optimize,tg-expand,tg-select,tg-linearize | filecheck %s

// Both loops over work items compute %i mod 4: it is computed once, before the loop that is there
// first. What one of them alone computes stays behind the other.

// CHECK-LABEL: tg.program @copy
// CHECK:         %i = tg.special "lidx0"
// CHECK:         %m = tg.mod %i, %c4
// CHECK:         tg.range 1 loop
// CHECK:         tg.add %{{.*}}, %m
// CHECK:         tg.end
// CHECK:         tg.idiv %i, %c4
// CHECK-NOT:     tg.mod
// CHECK:         tg.barrier
// CHECK:         tg.range 3 loop
// CHECK:         tg.add %{{.*}}, %m
builtin.module attributes {tg.target = #tg.target<"opencl">} {
  tg.kernel @copy {
    %out = tg.param 0 : tensor<4x4x3xf32, #tg.place<global>>
    %a = tg.param 1 : tensor<3x4xf32, #tg.place<global>>
    %c3 = tg.const 3 : tensor<index>
    %c4 = tg.const 4 : tensor<index>
    %c16 = tg.const 16 : tensor<index>
    %b = tg.buffer 0 : tensor<3x4xf32, #tg.place<local>>
    %i = tg.range 0 local to %c16 : tensor<index>
    %k = tg.range 1 loop to %c3 : tensor<index>
    %m = tg.mod %i, %c4 : tensor<index>
    %at = tg.index %a[%k, %m] : (tensor<3x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
    %bt = tg.index %b[%k, %m] : (tensor<3x4xf32, #tg.place<local>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<local>>
    %s = tg.store %bt, %v : tensor<f32, #tg.place<local>>, tensor<f32>
    %e = tg.end %s over %k, %i : !tg.void
    %j = tg.range 2 local to %c16 : tensor<index>
    %l = tg.range 3 loop to %c3 : tensor<index>
    %n = tg.mod %j, %c4 : tensor<index>
    %d = tg.idiv %j, %c4 : tensor<index>
    %done = tg.after %b, %e : (tensor<3x4xf32, #tg.place<local>>, !tg.void) -> tensor<3x4xf32, #tg.place<local>>
    %ct = tg.index %done[%l, %n] : (tensor<3x4xf32, #tg.place<local>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<local>>
    %w = tg.load %ct : tensor<f32, #tg.place<local>> -> tensor<f32>
    %ot = tg.index %out[%d, %n, %l] : (tensor<4x4x3xf32, #tg.place<global>>, tensor<index>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %t = tg.store %ot, %w : tensor<f32, #tg.place<global>>, tensor<f32>
    %f = tg.end %t over %l, %j : !tg.void
    %sink = tg.sink %f : !tg.void
  }
}
