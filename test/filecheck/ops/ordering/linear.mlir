// RUN: tg-opt %s | tg-opt | filecheck %s
// RUN: tg-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s

func.func @f() {
  // CHECK: %0 = tg.linear {
  // CHECK-NEXT: %m = tg.buffer 0
  // GENERIC: %0 = "tg.linear"() ({
  // GENERIC: }) : () -> !tg.void
  %0 = tg.linear {
    %m = tg.buffer 0 : tensor<4xf32, #tg.place<local>>
    %n = tg.const 4 : tensor<index>
    %v = tg.const 1.0 : tensor<f32>
    %i = tg.range 0 loop to %n : tensor<index>
    %p = tg.index %m[%i] : (tensor<4xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
    %c = tg.cmplt %i, %n : (tensor<index>, tensor<index>) -> tensor<i1>
    %b = tg.if %c : tensor<i1>
    %s = tg.store %p, %v : tensor<f32, #tg.place<local>>, tensor<f32>
    %d = tg.endif %b
    %e = tg.end %s over %i : !tg.void
    %k = tg.sink %e : !tg.void
  }
  func.return
}
