// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-expand' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode="explicit:split 0, 16, upcast" features=avx2,fma},tg-expand,tg-select' | filecheck %s --check-prefix=LANES

// Padding is a WHERE on a LOAD, whose condition becomes the gate of the LOAD: nothing is loaded of what the WHERE leaves out.
// Lanes that are not before the first element and not behind the last one are found by one comparison, without signs.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:         %[[IN:.*]] = tg.and
// CHECK:         tg.load %{{.*}} alt %{{.*}} gate %[[IN]]
// CHECK-NOT:     tg.where

// LANES-LABEL: tg.kernel @main_0
// LANES:         %[[MOVED:.*]] = tg.bitcast %{{.*}} : tensor<16xi32> -> tensor<16xui32>
// LANES:         %[[ON:.*]] = tg.cmplt %[[MOVED]], %{{.*}} : (tensor<16xui32>, tensor<ui32>) -> tensor<16xi1>
// LANES:         tg.load %{{.*}} alt %{{.*}} gate %[[ON]]
func.func @main(%x: tensor<61xf32>) -> tensor<64xf32> {
  %0 = tg.pad %x at [1] to [64] fill 0.0 : f32 : tensor<61xf32> -> tensor<64xf32>
  %1 = tg.add %0, %0 : tensor<64xf32>
  func.return %1 : tensor<64xf32>
}
