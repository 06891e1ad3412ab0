// RUN: tg-opt %s -p 'tg-select{target=cpu features=avx512f,fma}' | filecheck %s

// A term of an unrolled sum may be one scalar for all lanes, here the first one.
// CHECK-LABEL: tg.kernel @terms
// CHECK:         %[[FIRST:\w+]] = tg.const 7 : tensor<i32>
// CHECK:         %[[SECOND:\w+]] = tg.cast %{{.*}} to i32 : tensor<64xindex>
// CHECK:         %[[SUM:\w+]] = tg.add %[[FIRST]], %[[SECOND]] : (tensor<i32>, tensor<64xi32>)
// CHECK:         tg.store %{{.*}}, %[[SUM]]
tg.kernel @terms {
  %o = tg.param 0 : tensor<64xi32, #tg.place<global>>
  %i = tg.vconst [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63] : tensor<64xindex>
  %k = tg.vconst [0, 1] : tensor<2xindex>
  %column = tg.reshape %k [2, 1] : tensor<2xindex> -> tensor<2x1xindex>
  %m = tg.mul %i, %column : (tensor<64xindex>, tensor<2x1xindex>) -> tensor<2x64xindex>
  %c7 = tg.const 7 : tensor<index>
  %x = tg.xor %m, %c7 : (tensor<2x64xindex>, tensor<index>) -> tensor<2x64xindex>
  %v = tg.cast %x to i32 : tensor<2x64xindex> -> tensor<2x64xi32>
  %r = tg.reduce add %v [0] : tensor<2x64xi32> -> tensor<1x64xi32>
  %t = tg.reshape %r [64] : tensor<1x64xi32> -> tensor<64xi32>
  %l = tg.index %o[%i] : (tensor<64xi32, #tg.place<global>>, tensor<64xindex>) -> tensor<64xi32, #tg.place<global>>
  %s = tg.store %l, %t : tensor<64xi32, #tg.place<global>>, tensor<64xi32>
  %e = tg.sink %s : !tg.void
}

// Products are added to a sum by MULACC, as tg-expand does in a loop, also to the +0 that a sum
// begins with where a product may be -0.
// CHECK-LABEL: tg.kernel @products
// CHECK:         %[[ZERO:\w+]] = tg.expand %{{\w+}} [16] : tensor<1xf32> -> tensor<16xf32>
// CHECK-NEXT:    %[[ONE:\w+]] = tg.mulacc %{{\w+}}, %{{\w+}}, %[[ZERO]] : tensor<16xf32>
// CHECK-NEXT:    %[[TWO:\w+]] = tg.mulacc %{{\w+}}, %{{\w+}}, %[[ONE]] : tensor<16xf32>
// CHECK:         tg.store %{{.*}}, %[[TWO]]
tg.kernel @products {
  %o = tg.param 0 : tensor<1x16xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<2x16xf32, #tg.place<global>>
  %y = tg.param 2 : tensor<2x16xf32, #tg.place<global>>
  %a = tg.load %x : tensor<2x16xf32, #tg.place<global>> -> tensor<2x16xf32>
  %b = tg.load %y : tensor<2x16xf32, #tg.place<global>> -> tensor<2x16xf32>
  %m = tg.mul %a, %b : tensor<2x16xf32>
  %r = tg.reduce add %m [0] : tensor<2x16xf32> -> tensor<1x16xf32>
  %s = tg.store %o, %r : tensor<1x16xf32, #tg.place<global>>, tensor<1x16xf32>
  %e = tg.sink %s : !tg.void
}
