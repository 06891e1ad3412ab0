// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=none},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=LINEAR
// RUN: tg-opt %s -p 'tg-to-llvm{mode=none}' | filecheck %s --check-prefix=LLVM
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=none},tg-expand,tg-select,tg-linearize,tg-plan,tg-render{output=c}' -t c | filecheck %s --check-prefix=C
// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90" mode=heuristic}' | filecheck %s --check-prefix=GPU

// A kernel that calls is a program that calls: a function of its own on a CPU and in C, and one of the
// host that launches kernels where those are for a grid. What does not change is computed before the
// loop.

func.func @main(%h: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = tg.scan(%h, %w) states 1 sequences 0 steps 8 {
    %s = tg.param 0 : tensor<16x16xf32>
    %c = tg.param 1 : tensor<16x16xf32>
    %e = tg.exp2 %c : tensor<16x16xf32>
    %k = tg.contiguous %e : tensor<16x16xf32>
    %m = tg.mul %s, %k : tensor<16x16xf32>
    %a = tg.reduce add %m [1] : tensor<16x16xf32> -> tensor<16x1xf32>
    %b = tg.expand %a [16, 16] : tensor<16x1xf32> -> tensor<16x16xf32>
    %n = tg.sub %s, %b : tensor<16x16xf32>
    %t = tg.tuple %n : tensor<16x16xf32> -> !tg.tuple<tensor<16x16xf32>>
  } : (tensor<16x16xf32>, tensor<16x16xf32>) -> !tg.tuple<tensor<16x16xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<16x16xf32>> -> tensor<16x16xf32>
  func.return %0 : tensor<16x16xf32>
}

// LINEAR-LABEL: tg.program @main_scan_0
// LINEAR: %[[K:.*]] = tg.param 2
// LINEAR: tg.call @main_function_0_0(%[[K]],
// LINEAR-NEXT: %[[I:.*]] = tg.range 0 loop
// LINEAR-NEXT: %[[EVEN:.*]] = tg.mod %[[I]],
// LINEAR-NEXT: %[[ODD:.*]] = tg.sub {{%.*}}, %[[EVEN]]
// LINEAR: tg.shrink {{%.*}} at [%[[EVEN]], 0, 0]
// LINEAR: tg.shrink {{%.*}} at [%[[ODD]], 0, 0]
// LINEAR: %[[CALL:.*]] = tg.call @main_function_0_1(
// LINEAR-NEXT: tg.end %[[CALL]] over %[[I]]

// LLVM-LABEL: llvm.func @main_scan_0(
// LLVM: llvm.call @main_function_0_0(
// LLVM-NEXT: llvm.br ^bb1
// LLVM: llvm.call @main_function_0_1(
// LLVM: llvm.cond_br {{%.*}}, ^bb1

// C-LABEL: void main_scan_0(float *data0, const float *data1, float *data2) {
// C-NEXT: main_function_0_0(data2, data1);
// C-NEXT: for (int i = 0; i < 8; i++) {
// C-NEXT: int t0 = i % 2;
// C-NEXT: int at0 = (1 - t0) * 16 * 16;
// C-NEXT: int at1 = t0 * 16 * 16;
// C-NEXT: main_function_0_1(data0 + at0, data0 + at1, data2);

// GPU-LABEL: llvm.func @main_scan_0(
// GPU: gpu.launch_func @kernels::@main_function_0_0
// GPU-NEXT: llvm.br ^bb1
// GPU: gpu.launch_func @kernels::@main_function_0_1
// GPU: llvm.cond_br {{%.*}}, ^bb1
