// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=heuristic features=avx512f threads=1})' | filecheck %s

// The last vectors of a loop begin in those before, but where a kernel reads what it writes: there they are masked.

// CHECK: tg.sink %{{.*}} opts [#tg.opt<padto 0, 48>, #tg.opt<split 0, 48, upcast>]
// CHECK: tg.sink %{{.*}} opts [#tg.opt<split 0, 64, upcast, overlap>]

#m = #tg.place<"CPU", global>
module attributes {tg.target = #tg.target<"cpu", features = []>} {
func.func @main(%m: tensor<1000xf32, #m>, %x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = tg.mul %m, %x : (tensor<1000xf32, #m>, tensor<1000xf32>) -> tensor<1000xf32, #tg.place<"CPU">>
  %1 = tg.store %m, %0 : tensor<1000xf32, #m>, tensor<1000xf32, #tg.place<"CPU">>
  %2 = tg.mul %x, %x : tensor<1000xf32>
  func.return %2 : tensor<1000xf32>
}
}
