// RUN: tg-opt %s -p 'tg-select,tg-verify{level=target}' | filecheck %s --check-prefixes=CPU,CHECK
// RUN: tg-opt %s -p 'tg-select{features=fma},tg-verify{level=target}' | filecheck %s --check-prefixes=FMA,CHECK

// A cpu has SUB and DIV, and MULACC if it has fma; EXP2 is decomposed.

#g = #tg.place<global>
!f = tensor<f32>
tg.kernel @arithmetic {
  %o = tg.param 0 : tensor<f32, #g>
  %x = tg.param 1 : tensor<f32, #g>
  %v = tg.load %x : tensor<f32, #g> -> !f
  %a = tg.sub %v, %v : !f
  %b = tg.div %v, %a : !f
  %c = tg.mulacc %a, %b, %v : !f
  %s = tg.store %o, %c : tensor<f32, #g>, !f
  tg.sink %s : !tg.void
}

// CHECK-LABEL: tg.kernel @arithmetic
// CHECK:         %a = tg.sub %v, %v : tensor<f32>
// CHECK-NEXT:    %b = tg.div %v, %a : tensor<f32>
// CPU-NEXT:      %4 = tg.mul %a, %b : tensor<f32>
// CPU-NEXT:      %c = tg.add %4, %v : tensor<f32>
// FMA-NEXT:      %c = tg.mulacc %a, %b, %v : tensor<f32>

tg.kernel @exponential {
  %o = tg.param 0 : tensor<f32, #g>
  %x = tg.param 1 : tensor<f32, #g>
  %v = tg.load %x : tensor<f32, #g> -> !f
  %e = tg.exp2 %v : !f
  %s = tg.store %o, %e : tensor<f32, #g>, !f
  tg.sink %s : !tg.void
}

// CHECK-LABEL: tg.kernel @exponential
// CPU-NOT:       tg.mulacc
// FMA:           tg.mulacc
// CHECK-NOT:     tg.exp2
// CHECK:         %e = tg.where
