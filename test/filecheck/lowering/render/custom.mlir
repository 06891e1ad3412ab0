// CUSTOM: a statement or an expression of the language; the code is written for each lane. In LLVM it is a call.

// RUN: tg-opt %s -p 'tg-render{output=c}' -t c | filecheck %s --check-prefix=C
// RUN: tg-opt %s -p tg-render -t llvm | filecheck %s --check-prefix=LLVM

tg.program @call {
  %0 = tg.linear {
    %p = tg.param 0 : tensor<8xi32, #tg.place<global>>
    %q = tg.param 1 : tensor<8xf32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<index>
    %c7 = tg.const 7 : tensor<index>
    %i = tg.index %p[%c0] : (tensor<8xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
    %n = tg.load %i : tensor<i32, #tg.place<global>> -> tensor<i32>
    %ones = tg.custom "__builtin_popcount({0})"(%n) : tensor<i32>
    %out = tg.custom "putchar({0});"(%ones) : tensor<i32> -> !tg.void
    %at = tg.vconst [0, 1] : tensor<2xindex>
    %j = tg.index %q[%at] : (tensor<8xf32, #tg.place<global>>, tensor<2xindex>) -> tensor<2xf32, #tg.place<global>>
    %v = tg.load %j : tensor<2xf32, #tg.place<global>> -> tensor<2xf32>
    %w = tg.custom "fmaxf({1}, {0})"(%v, %v) {inline} : tensor<2xf32>
    %f = tg.custom "f({0}, {1})"(%w, %c7) by "f" : (tensor<2xf32>, tensor<index>) -> tensor<2xf32>
    %s = tg.store %j, %f : tensor<2xf32, #tg.place<global>>, tensor<2xf32>
    %k = tg.sink %s : !tg.void
  }
}
// C: extern float tg_call_[[F:[0-9a-f]+]](float, int64_t);
// C-EMPTY:
// C-NEXT: void call(const int *p, float *q) {
// C-NEXT:   int ones = ((int)(__builtin_popcount((p[0]))));
// C-NEXT:   putchar((ones));
// C-NEXT:   float v_0 = q[0];
// C-NEXT:   float v_1 = q[1];
// C-NEXT:   float t0 = tg_call_[[F]](((float)(fmaxf((v_0), (v_0)))), 7);
// C-NEXT:   float t1 = tg_call_[[F]](((float)(fmaxf((v_1), (v_1)))), 7);
// LLVM-DAG: declare void @putchar(i32)
// LLVM-DAG: declare float @fmaxf(float, float)
// LLVM-DAG: declare float @tg_call_[[F:[0-9a-f]+]](float, i64)
// LLVM: define void @call(
// LLVM: call i32 @llvm.ctpop.i32(i32
// LLVM: call void @putchar(i32
// LLVM: call float @fmaxf(float
// LLVM: call float @fmaxf(float
// LLVM: call float @tg_call_[[F]](float {{.*}}, i64 {{.*}})
// LLVM: call float @tg_call_[[F]](float {{.*}}, i64 {{.*}})
