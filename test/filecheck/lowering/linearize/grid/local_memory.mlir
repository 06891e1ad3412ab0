// RUN: tg-opt %s -p tg-linearize | filecheck %s

// LOCAL buffers: what work items share is cleared where a cell may be read before it is stored, and what each has of its own is
// in registers.

module attributes {tg.target = #tg.target<"opencl">} {

// Only the first 8 cells are stored, and all 16 are read: 16 work items store 0 first. Each
// of them stores to the cell that it has cleared, so that one BARRIER is enough.

// CHECK-LABEL: tg.program @cleared
// CHECK:         [[B:%.+]] = tg.buffer 0 : tensor<16xf32, #tg.place<local>>
// CHECK:         tg.range {{.*}} loop
// CHECK:         tg.if
// CHECK:         [[ZERO:%.+]] = tg.const 0.0
// CHECK:         tg.store {{.*}}, [[ZERO]]
// CHECK:         tg.endif
// CHECK:         tg.end
// CHECK:         tg.store
// CHECK:         tg.barrier
// CHECK:         tg.load
tg.kernel @cleared {
  %o = tg.param 0 : tensor<16xf32, #tg.place<global>>
  %b = tg.buffer 0 : tensor<16xf32, #tg.place<local>>
  %eight = tg.const 8 : tensor<index>
  %sixteen = tg.const 16 : tensor<index>
  %fifteen = tg.const 15 : tensor<index>
  %i = tg.range 0 local to %eight : tensor<index>
  %x = tg.cast %i to f32 : tensor<index> -> tensor<f32>
  %bi = tg.index %b[%i] : (tensor<16xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %s = tg.store %bi, %x : tensor<f32, #tg.place<local>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %full = tg.after %b, %e : (tensor<16xf32, #tg.place<local>>, !tg.void) -> tensor<16xf32, #tg.place<local>>
  %j = tg.range 1 local to %sixteen : tensor<index>
  %k = tg.sub %fifteen, %j : tensor<index>
  %bk = tg.index %full[%k] : (tensor<16xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %y = tg.load %bk : tensor<f32, #tg.place<local>> -> tensor<f32>
  %oj = tg.index %o[%j] : (tensor<16xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %oj, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %u = tg.end %t over %j : !tg.void
  tg.sink %u : !tg.void
}

// Each iteration stores 4 cells, and loads those of the last iteration: all are stored in the end, but not when they are loaded.

// CHECK-LABEL: tg.program @early
// CHECK:         [[B:%.+]] = tg.buffer 0 : tensor<16xf32, #tg.place<local>>
// CHECK:         tg.range
// CHECK:         [[ZERO:%.+]] = tg.const 0.0
// CHECK:         tg.store {{.*}}, [[ZERO]]
// CHECK:         tg.end
// CHECK:         tg.range
// CHECK:         tg.store
// CHECK:         tg.barrier
// CHECK:         tg.load
tg.kernel @early {
  %o = tg.param 0 : tensor<16xf32, #tg.place<global>>
  %b = tg.buffer 0 : tensor<16xf32, #tg.place<local>>
  %four = tg.const 4 : tensor<index>
  %fifteen = tg.const 15 : tensor<index>
  %i = tg.range 0 loop to %four : tensor<index>
  %i4 = tg.mul %i, %four : tensor<index>
  %k = tg.range 1 local to %four : tensor<index>
  %c = tg.add %i4, %k : tensor<index>
  %x = tg.cast %c to f32 : tensor<index> -> tensor<f32>
  %bc = tg.index %b[%c] : (tensor<16xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %s = tg.store %bc, %x : tensor<f32, #tg.place<local>>, tensor<f32>
  %e = tg.end %s over %k : !tg.void
  %some = tg.after %b, %e : (tensor<16xf32, #tg.place<local>>, !tg.void) -> tensor<16xf32, #tg.place<local>>
  %j = tg.range 2 local to %four : tensor<index>
  %l = tg.sub %fifteen, %j : tensor<index>
  %bl = tg.index %some[%l] : (tensor<16xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %y = tg.load %bl : tensor<f32, #tg.place<local>> -> tensor<f32>
  %d = tg.add %i4, %j : tensor<index>
  %od = tg.index %o[%d] : (tensor<16xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %od, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %u = tg.end %t over %j, %i : !tg.void
  tg.sink %u : !tg.void
}

// Each work item loads the cell that it has stored: a register, and no BARRIER.

// CHECK-LABEL: tg.program @private
// CHECK-NOT:     local>
// CHECK:         tg.buffer 0 : {{.*}}#tg.place<reg>>
// CHECK-NOT:     tg.barrier
tg.kernel @private {
  %o = tg.param 0 : tensor<16xf32, #tg.place<global>>
  %b = tg.buffer 0 : tensor<16xf32, #tg.place<local>>
  %sixteen = tg.const 16 : tensor<index>
  %i = tg.range 0 local to %sixteen : tensor<index>
  %x = tg.cast %i to f32 : tensor<index> -> tensor<f32>
  %bi = tg.index %b[%i] : (tensor<16xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %s = tg.store %bi, %x : tensor<f32, #tg.place<local>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %full = tg.after %b, %e : (tensor<16xf32, #tg.place<local>>, !tg.void) -> tensor<16xf32, #tg.place<local>>
  %j = tg.range 1 local to %sixteen : tensor<index>
  %bj = tg.index %full[%j] : (tensor<16xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %y = tg.load %bj : tensor<f32, #tg.place<local>> -> tensor<f32>
  %oj = tg.index %o[%j] : (tensor<16xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %oj, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %u = tg.end %t over %j : !tg.void
  tg.sink %u : !tg.void
}

// A WARP range is one over work items, as LOCAL ranges are.

// CHECK-LABEL: tg.program @warp
// CHECK:         tg.special "lidx0"
// CHECK-NOT:     tg.range
tg.kernel @warp {
  %o = tg.param 0 : tensor<16xf32, #tg.place<global>>
  %sixteen = tg.const 16 : tensor<index>
  %i = tg.range 0 warp to %sixteen : tensor<index>
  %x = tg.cast %i to f32 : tensor<index> -> tensor<f32>
  %oi = tg.index %o[%i] : (tensor<16xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %oi, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %u = tg.end %t over %i : !tg.void
  tg.sink %u : !tg.void
}
}
