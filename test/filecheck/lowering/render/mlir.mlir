// REQUIRES: mlir
// RUN: tg-opt %s -p tg-select,tg-linearize,tg-render | mlir-opt | mlir-translate --mlir-to-llvmir | filecheck %s

// Upstream's tools accept what is rendered.

#g = #tg.place<global>
!i = tensor<index>
tg.kernel @k {
  %n = tg.param 0 "n" min 0 max 64 : !i
  %o = tg.param 1 (%n) : tensor<?xi8, #g>
  %x = tg.param 2 (%n) : tensor<?xf32, #g>
  %acc = tg.buffer 0 : tensor<2xf32, #tg.place<reg>>
  %i = tg.range 0 loop to %n : !i
  %a1 = tg.after %acc, %i : (tensor<2xf32, #tg.place<reg>>, !i) -> tensor<2xf32, #tg.place<reg>>
  %lx = tg.index %x[%i] : (tensor<?xf32, #g>, !i) -> tensor<f32, #g>
  %v = tg.load %lx : tensor<f32, #g> -> tensor<f32>
  %w = tg.max %v, %v : tensor<f32>
  %e = tg.exp2 %w : tensor<f32>
  %c = tg.cast %e to i8 : tensor<f32> -> tensor<i8>
  %two = tg.const 2 : !i
  %j = tg.mod %i, %two : !i
  %q = tg.idiv %n, %i : !i
  %la = tg.index %a1[%j] : (tensor<2xf32, #tg.place<reg>>, !i) -> tensor<f32, #tg.place<reg>>
  %s0 = tg.store %la, %e : tensor<f32, #tg.place<reg>>, tensor<f32>
  %lo = tg.index %o[%q] : (tensor<?xi8, #g>, !i) -> tensor<i8, #g>
  %s1 = tg.store %lo, %c : tensor<i8, #g>, tensor<i8>
  %both = tg.group %s0, %s1
  %end = tg.end %both over %i : !tg.void
  tg.sink %end : !tg.void
}

// CHECK-LABEL: define void @k(i64 %0, ptr %1, ptr %2)
// CHECK:         call i8 @llvm.fptosi.sat.i8.f32
// CHECK:         ret void
