// RUN: tg-opt %s -p tg-decompose | filecheck %s --check-prefix=GONE
// RUN: tg-opt %s -p tg-decompose | tg-run - --target interpreter --digits 4 --input 0.5,1.25,3 --input 2,-1.5,0.25 --input 1,2,5 --input 0 --input true,false | filecheck %s --match-full-lines
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=none},tg-expand,tg-select' | tg-run - --target interpreter --digits 4 --input 0.5,1.25,3 --input 2,-1.5,0.25 --input 1,2,5 --input 0 --input true,false | filecheck %s --match-full-lines

// What ops are decomposed into has their values, in a tensor program and in a kernel for the CPU.

// GONE-NOT: tg.{{log2|exp|log|log10|expm1|log1p|softplus|sin|cos|erf|erfc|gelu|sqrt|gate|pow|logaddexp|fmod|lgamma|cmpgt|cmple|not|threefry}} 

// tg.recip
// CHECK: dense<[2.0, 0.8, 0.3333]> : tensor<3xf32>
// tg.trunc
// CHECK-NEXT: dense<[0.0, 1.0, 3.0]> : tensor<3xf32>
// tg.log2
// CHECK-NEXT: dense<[-1.0, 0.3219, 1.585]> : tensor<3xf32>
// tg.exp
// CHECK-NEXT: dense<[1.649, 3.49, 20.09]> : tensor<3xf32>
// tg.log
// CHECK-NEXT: dense<[-0.6931, 0.2231, 1.099]> : tensor<3xf32>
// tg.log10
// CHECK-NEXT: dense<[-0.301, 0.09691, 0.4771]> : tensor<3xf32>
// tg.expm1
// CHECK-NEXT: dense<[0.6487, 2.49, 19.09]> : tensor<3xf32>
// tg.log1p
// CHECK-NEXT: dense<[0.4055, 0.8109, 1.386]> : tensor<3xf32>
// tg.softplus
// CHECK-NEXT: dense<[0.9741, 1.502, 3.049]> : tensor<3xf32>
// tg.sin
// CHECK-NEXT: dense<[0.4794, 0.949, 0.1411]> : tensor<3xf32>
// tg.cos
// CHECK-NEXT: dense<[0.8776, 0.3153, -0.99]> : tensor<3xf32>
// tg.erf
// CHECK-NEXT: dense<[0.5205, 0.9229, 1.0]> : tensor<3xf32>
// tg.erfc
// CHECK-NEXT: dense<[0.4795, 0.0771, 2.209e-05]> : tensor<3xf32>
// tg.gelu
// CHECK-NEXT: dense<[0.3457, 1.118, 2.996]> : tensor<3xf32>
// tg.sqrt
// CHECK-NEXT: dense<[0.7071, 1.118, 1.732]> : tensor<3xf32>
// tg.gate
// CHECK-NEXT: dense<[0.4404, 0.228, 1.687]> : tensor<3xf32>
// tg.pow
// CHECK-NEXT: dense<[0.25, 0.7155, 1.316]> : tensor<3xf32>
// tg.logaddexp
// CHECK-NEXT: dense<[2.201, 1.312, 3.062]> : tensor<3xf32>
// tg.fmod
// CHECK-NEXT: dense<[0.5, 1.25, 0.0]> : tensor<3xf32>
// tg.lgamma
// CHECK-NEXT: dense<[2.0, -1.5, 0.25]> : tensor<3xf32>
// tg.cmpgt
// CHECK-NEXT: dense<[false, true, true]> : tensor<3xi1>
// tg.cmple
// CHECK-NEXT: dense<[true, false, false]> : tensor<3xi1>
// tg.not
// CHECK-NEXT: dense<[false, true]> : tensor<2xi1>
// tg.shl
// CHECK-NEXT: dense<[2, 8, 160]> : tensor<3xi32>
// tg.threefry
// CHECK-NEXT: dense<[11077253088097075545]> : tensor<1xui64>
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>, %i: tensor<3xi32>, %k: tensor<1xui64>, %p: tensor<2xi1>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<3xi1>, tensor<2xi1>, tensor<3xi32>, tensor<1xui64>) {
  %0 = tg.recip %x : tensor<3xf32>
  %1 = tg.trunc %x : tensor<3xf32>
  %2 = tg.log2 %x : tensor<3xf32>
  %3 = tg.exp %x : tensor<3xf32>
  %4 = tg.log %x : tensor<3xf32>
  %5 = tg.log10 %x : tensor<3xf32>
  %6 = tg.expm1 %x : tensor<3xf32>
  %7 = tg.log1p %x : tensor<3xf32>
  %8 = tg.softplus %x : tensor<3xf32>
  %9 = tg.sin %x : tensor<3xf32>
  %10 = tg.cos %x : tensor<3xf32>
  %11 = tg.erf %x : tensor<3xf32>
  %12 = tg.erfc %x : tensor<3xf32>
  %13 = tg.gelu %x : tensor<3xf32>
  %14 = tg.sqrt %x : tensor<3xf32>
  %15 = tg.gate %x, %y : tensor<3xf32>
  %16 = tg.pow %x, %y : tensor<3xf32>
  %17 = tg.logaddexp %x, %y : tensor<3xf32>
  %18 = tg.fmod %x, %y : tensor<3xf32>
  %19 = tg.lgamma %x, %y : tensor<3xf32>
  %20 = tg.cmpgt %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %21 = tg.cmple %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %22 = tg.not %p : tensor<2xi1>
  %23 = tg.shl %i, %i : tensor<3xi32>
  %24 = tg.threefry %k, %k : tensor<1xui64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi1>, tensor<3xi1>, tensor<2xi1>, tensor<3xi32>, tensor<1xui64>
}
