// RUN: tg-opt %s -p tg-render{cache=1000} | filecheck %s
// RUN: tg-opt %s -p tg-render{cache=4096} | filecheck %s --check-prefix=FITS

// A vector goes around the caches to a result that is larger than they are, where it is aligned as the instruction asks.

// CHECK:      %[[NUMBER:.*]] = llvm.ptrtoint %[[ADDRESS:.*]] : !llvm.ptr to i64
// CHECK-NEXT: %[[REST:.*]] = llvm.and %[[NUMBER]], %{{.*}} : i64
// CHECK-NEXT: %[[ALIGNED:.*]] = llvm.icmp "eq" %[[REST]], %{{.*}} : i64
// CHECK-NEXT: llvm.cond_br %[[ALIGNED]]
// CHECK:      llvm.store %{{.*}}, %[[ADDRESS]] {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
// CHECK:      llvm.store %{{.*}}, %[[ADDRESS]] {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr

// FITS-NOT: nontemporal

#g = #tg.place<global>
tg.program @k {
  tg.linear {
    %o = tg.param 0 : tensor<1024xf32, #g>
    %x = tg.param 1 : tensor<1024xf32, #g>
    %c0 = tg.const 0 : tensor<index>
    %c1 = tg.const 1 : tensor<index>
    %c2 = tg.const 2 : tensor<index>
    %c3 = tg.const 3 : tensor<index>
    %c4 = tg.const 4 : tensor<index>
    %c5 = tg.const 5 : tensor<index>
    %c6 = tg.const 6 : tensor<index>
    %c7 = tg.const 7 : tensor<index>
    %c8 = tg.const 8 : tensor<index>
    %c9 = tg.const 9 : tensor<index>
    %c10 = tg.const 10 : tensor<index>
    %c11 = tg.const 11 : tensor<index>
    %c12 = tg.const 12 : tensor<index>
    %c13 = tg.const 13 : tensor<index>
    %c14 = tg.const 14 : tensor<index>
    %c15 = tg.const 15 : tensor<index>
    %i = tg.stack %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15 : (tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>) -> tensor<16xindex>
    %p = tg.index %x[%i] : (tensor<1024xf32, #g>, tensor<16xindex>) -> tensor<16xf32, #g>
    %v = tg.load %p : tensor<16xf32, #g> -> tensor<16xf32>
    %q = tg.index %o[%i] : (tensor<1024xf32, #g>, tensor<16xindex>) -> tensor<16xf32, #g>
    %s = tg.store %q, %v : tensor<16xf32, #g>, tensor<16xf32>
    %k = tg.sink %s : !tg.void
  }
}
