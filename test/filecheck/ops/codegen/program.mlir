// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s
// RUN: tg-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK:      tg.program @k {
// CHECK-NEXT:   %0 = tg.linear {
// CHECK:        %1 = tg.source "void k(float *o) {\0A}"
// CHECK-NEXT:   %2 = tg.binary "7f454c46" : tensor<4xui8>
// CHECK-NEXT: }
// GENERIC: "tg.program"() <{sym_name = "k"}> ({
tg.program @k {
  %0 = tg.linear {
    %o = tg.param 0 : tensor<f32, #tg.place<global>>
  }
  %1 = tg.source "void k(float *o) {\n}"
  %2 = tg.binary "7f454c46" : tensor<4xui8>
}

// CHECK: tg.program @without {
tg.program @without {
  %0 = tg.linear {
    %c = tg.const 1.0 : tensor<f32>
  }
}
