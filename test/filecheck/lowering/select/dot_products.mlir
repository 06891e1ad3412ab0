// RUN: tg-opt %s -p "tg-select{target=nvidia:sm_90}" | filecheck %s
// RUN: tg-opt %s -p "tg-select{target=amd:gfx942}" | filecheck %s --check-prefix=AMD

// Neighbours in memory are words: four products are one instruction. AMD's are left to LLVM.
tg.kernel @neighbours {
  %p = tg.param 0 : tensor<8xi8, #tg.place<global>>
  %q = tg.param 1 : tensor<8xui8, #tg.place<global>>
  %o = tg.param 2 : tensor<1xi32, #tg.place<global>>
  %a = tg.load %p : tensor<8xi8, #tg.place<global>> -> tensor<8xi8>
  %b = tg.load %q : tensor<8xui8, #tg.place<global>> -> tensor<8xui8>
  %x = tg.cast %a to i32 : tensor<8xi8> -> tensor<8xi32>
  %y = tg.cast %b to i32 : tensor<8xui8> -> tensor<8xi32>
  %m = tg.mul %x, %y : tensor<8xi32>
  // CHECK-LABEL: @neighbours
  // CHECK: %[[FIRST:.*]] = tg.ins "nvidia:sm_90.dp4a.s32.u32"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<ui32>, tensor<ui32>, tensor<i32>) -> tensor<i32>
  // CHECK: tg.ins "nvidia:sm_90.dp4a.s32.u32"(%{{.*}}, %{{.*}}, %[[FIRST]])
  // AMD-NOT: tg.ins
  %s = tg.reduce add %m [0] : tensor<8xi32> -> tensor<1xi32>
  %t = tg.store %o, %s : tensor<1xi32, #tg.place<global>>, tensor<1xi32>
  %k = tg.sink %t : !tg.void
}

// Of bytes that are apart in memory, words would take more operations than there are products.
tg.kernel @apart {
  %p = tg.param 0 : tensor<4x8xi8, #tg.place<global>>
  %o = tg.param 1 : tensor<1x1xi32, #tg.place<global>>
  %v = tg.shrink %p at [0, 0] to [4, 1] : tensor<4x8xi8, #tg.place<global>> -> tensor<4x1xi8, #tg.place<global>>
  %a = tg.load %v : tensor<4x1xi8, #tg.place<global>> -> tensor<4x1xi8>
  %x = tg.cast %a to i32 : tensor<4x1xi8> -> tensor<4x1xi32>
  %m = tg.mul %x, %x : tensor<4x1xi32>
  // CHECK-LABEL: @apart
  // CHECK-NOT: tg.ins
  %s = tg.reduce add %m [0] : tensor<4x1xi32> -> tensor<1x1xi32>
  %t = tg.store %o, %s : tensor<1x1xi32, #tg.place<global>>, tensor<1x1xi32>
  %k = tg.sink %t : !tg.void
}
