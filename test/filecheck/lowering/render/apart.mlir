// RUN: tg-opt %s -p tg-render | filecheck %s

// The lanes of a vector that are not neighbours: the first of them is aligned to an element, wherever the buffer is.

// CHECK:      llvm.alloca %{{.*}} x !llvm.array<256 x i8> {alignment = 64 : i64}
// CHECK:      llvm.extractelement
// CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK:      llvm.extractelement
// CHECK-NOT:  alignment = 64
// CHECK:      llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr

#g = #tg.place<global>
#l = #tg.place<local>
tg.program @k {
  tg.linear {
    %x = tg.param 0 : tensor<64xf32, #g>
    %b = tg.buffer 0 : tensor<64xf32, #l>
    %n = tg.const 3 : tensor<index>
    %lanes = tg.vconst [0, 3] : tensor<2xindex>
    %i = tg.range 0 loop to %n : tensor<index>
    %apart = tg.add %i, %lanes : (tensor<index>, tensor<2xindex>) -> tensor<2xindex>
    %p = tg.index %x[%apart] : (tensor<64xf32, #g>, tensor<2xindex>) -> tensor<2xf32, #g>
    %v = tg.load %p : tensor<2xf32, #g> -> tensor<2xf32>
    %q = tg.index %b[%apart] : (tensor<64xf32, #l>, tensor<2xindex>) -> tensor<2xf32, #l>
    %s = tg.store %q, %v : tensor<2xf32, #l>, tensor<2xf32>
    %e = tg.end %s over %i : !tg.void
    %k = tg.sink %e : !tg.void
  }
}
