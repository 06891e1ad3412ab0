// RUN: tg-opt %s -p 'tg-to-source{target=c mode=none}' -t c | filecheck %s

// A translation unit of C: the kernels, and a function with the arguments of the program, its results
// last. Intermediate results are in `workspace`.

func.func @main(%x: tensor<8x16xf32>, %k: tensor<8xi32>, %n: tensor<index> {tg.min = 1, tg.max = 8}) -> (tensor<8xf32>, tensor<8xi32>) {
  %0 = tg.reduce add %x [1] : tensor<8x16xf32> -> tensor<8x1xf32>
  %1 = tg.reshape %0 [8] : tensor<8x1xf32> -> tensor<8xf32>
  %2 = tg.idiv %k, %k : tensor<8xi32>
  func.return %1, %2 : tensor<8xf32>, tensor<8xi32>
}

// CHECK:      #include <math.h>
// CHECK:      void main_0(float *out0, const float *x) {
// CHECK-NEXT:   for (int i = 0; i < 8; i++) {
// CHECK-NEXT:     int t0 = i * 16;
// CHECK-NEXT:     float acc = 0.0f;
// CHECK-NEXT:     for (int j = 0; j < 16; j++) {
// CHECK-NEXT:       acc += x[t0 + j];
// CHECK-NEXT:     }
// CHECK-NEXT:     out0[i] = acc;
// CHECK-NEXT:   }
// CHECK-NEXT: }

// CHECK:      static inline int tg_floor_div_i32(int a, int b) {
// CHECK-NEXT:   if (b == 0) return 0;

// CHECK:      void main_1(int *out1, const int *k) {
// CHECK-NEXT:   for (int i = 0; i < 8; i++) {
// CHECK-NEXT:     int val0 = k[i];
// CHECK-NEXT:     out1[i] = tg_floor_div_i32(val0, val0);

// CHECK:      void main_(const float *x, const int *k, int64_t n, float *out0, int *out1) {
// CHECK-NEXT:   (void)n;
// CHECK-NEXT:   main_0(out0, x);
// CHECK-NEXT:   main_1(out1, k);
// CHECK-NEXT: }
