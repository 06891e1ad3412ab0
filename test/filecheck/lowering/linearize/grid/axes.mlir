// RUN: tg-opt %s -p tg-linearize | filecheck %s

// Loops over workgroups and work items become SPECIALs; the innermost loop is dimension 0.

module attributes {tg.target = #tg.target<"opencl">} {

// CHECK-LABEL: tg.program @two
// CHECK:         tg.special "gidx0" to
// CHECK:         tg.special "lidx0" to
// CHECK-NOT:     tg.range
// CHECK-NOT:     tg.if
// CHECK:         tg.store
// CHECK-NOT:     tg.end
tg.kernel @two {
  %o = tg.param 0 : tensor<32xf32, #tg.place<global>>
  %four = tg.const 4 : tensor<index>
  %eight = tg.const 8 : tensor<index>
  %g = tg.range 0 global to %four : tensor<index>
  %l = tg.range 1 local to %eight : tensor<index>
  %g8 = tg.mul %g, %eight : tensor<index>
  %i = tg.add %g8, %l : tensor<index>
  %c = tg.index %o[%i] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %x = tg.const 1.0 : tensor<f32>
  %s = tg.store %c, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %l, %g : !tg.void
  tg.sink %e : !tg.void
}

// The extent of an axis of workgroups may be computed from scalar arguments.

// CHECK-LABEL: tg.program @dynamic
// CHECK:         [[N:%.+]] = tg.param 1 : tensor<index>
// CHECK:         tg.special "gidx0" to [[N]]
tg.kernel @dynamic {
  %o = tg.param 0 : tensor<32xf32, #tg.place<global>>
  %n = tg.param 1 : tensor<index>
  %g = tg.range 0 global to %n : tensor<index>
  %c = tg.index %o[%g] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %x = tg.const 1.0 : tensor<f32>
  %s = tg.store %c, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %g : !tg.void
  tg.sink %e : !tg.void
}

// Four axes are merged into one, whose index is divided into theirs.

// CHECK-LABEL: tg.program @four
// CHECK:         tg.special "gidx0" to
// CHECK-NOT:     tg.special
// CHECK:         tg.mod
// CHECK:         tg.idiv
// CHECK:         tg.store
tg.kernel @four {
  %o = tg.param 0 : tensor<2x3x4x5xf32, #tg.place<global>>
  %n2 = tg.const 2 : tensor<index>
  %n3 = tg.const 3 : tensor<index>
  %n4 = tg.const 4 : tensor<index>
  %n5 = tg.const 5 : tensor<index>
  %a = tg.range 0 global to %n2 : tensor<index>
  %b = tg.range 1 global to %n3 : tensor<index>
  %c = tg.range 2 global to %n4 : tensor<index>
  %d = tg.range 3 global to %n5 : tensor<index>
  %i = tg.reshape %o [120] : tensor<2x3x4x5xf32, #tg.place<global>> -> tensor<120xf32, #tg.place<global>>
  %a3 = tg.mul %a, %n3 : tensor<index>
  %ab = tg.add %a3, %b : tensor<index>
  %ab4 = tg.mul %ab, %n4 : tensor<index>
  %abc = tg.add %ab4, %c : tensor<index>
  %abc5 = tg.mul %abc, %n5 : tensor<index>
  %abcd = tg.add %abc5, %d : tensor<index>
  %cell = tg.index %i[%abcd] : (tensor<120xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %x = tg.const 1.0 : tensor<f32>
  %s = tg.store %cell, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %d, %c, %b, %a : !tg.void
  tg.sink %e : !tg.void
}

// A second loop of 3 iterations on an axis of 8 is put into an IF, and work items exchange what the
// LOCAL buffer holds: a BARRIER orders them. All cells are stored first, so none are cleared.

// CHECK-LABEL: tg.program @partial
// CHECK:         tg.special "lidx0" to
// CHECK-NOT:     tg.range
// CHECK:         tg.store
// CHECK:         tg.cmplt
// CHECK-NEXT:    tg.barrier
// CHECK-NEXT:    tg.if
// CHECK:         tg.load
// CHECK:         tg.store
// CHECK:         tg.endif
tg.kernel @partial {
  %o = tg.param 0 : tensor<3xf32, #tg.place<global>>
  %b = tg.buffer 0 : tensor<8xf32, #tg.place<local>>
  %eight = tg.const 8 : tensor<index>
  %three = tg.const 3 : tensor<index>
  %seven = tg.const 7 : tensor<index>
  %i = tg.range 0 local to %eight : tensor<index>
  %x = tg.cast %i to f32 : tensor<index> -> tensor<f32>
  %bi = tg.index %b[%i] : (tensor<8xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %s = tg.store %bi, %x : tensor<f32, #tg.place<local>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %full = tg.after %b, %e : (tensor<8xf32, #tg.place<local>>, !tg.void) -> tensor<8xf32, #tg.place<local>>
  %j = tg.range 1 local to %three : tensor<index>
  %k = tg.sub %seven, %j : tensor<index>
  %bk = tg.index %full[%k] : (tensor<8xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %y = tg.load %bk : tensor<f32, #tg.place<local>> -> tensor<f32>
  %oj = tg.index %o[%j] : (tensor<3xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %oj, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %u = tg.end %t over %j : !tg.void
  tg.sink %u : !tg.void
}

// A STORE outside of all axes is done by the first work item of the first workgroup.

// CHECK-LABEL: tg.program @outside
// CHECK:         [[G:%.+]] = tg.special "gidx0"
// CHECK:         tg.cmpeq [[G]]
// CHECK:         tg.if
// CHECK:         tg.store
// CHECK:         tg.endif
tg.kernel @outside {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<f32, #tg.place<global>>
  %four = tg.const 4 : tensor<index>
  %x = tg.const 1.0 : tensor<f32>
  %g = tg.range 0 global to %four : tensor<index>
  %c = tg.index %o[%g] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %c, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %g : !tg.void
  %t = tg.store %p, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %e, %t : !tg.void, !tg.void
}
}
