// RUN: not tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90"}' 2>&1 | filecheck %s
// RUN: tg-opt %s -p 'tg-to-llvm{mode=none}' | filecheck %s --check-prefix=LLVM

// The bound of the inner loop of a `while` is loaded: a host that launches kernels cannot.

// CHECK: the host launches kernels, and cannot load the bound of a loop from the memory of a device
// LLVM-LABEL: llvm.func @main_scan_0(
// LLVM: %[[COUNT:.*]] = llvm.load
// LLVM: %[[FLAG:.*]] = llvm.load
// LLVM: llvm.call @main_function_0_0(
// LLVM: llvm.store

func.func @main(%go: tensor<i1>, %h: tensor<i32>) -> tensor<i32> {
  %r = tg.scan(%go, %h) states 2 sequences 0 steps 100 while {
    %f = tg.param 0 : tensor<i1>
    %s = tg.param 1 : tensor<i32>
    %n = tg.add %s, %s : tensor<i32>
    %c = tg.const 1000 : tensor<i32>
    %b = tg.cmplt %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = tg.tuple %b, %n : (tensor<i1>, tensor<i32>) -> !tg.tuple<tensor<i1>, tensor<i32>>
  } : (tensor<i1>, tensor<i32>) -> !tg.tuple<tensor<i1>, tensor<i32>>
  %0 = tg.gettuple %r 1 : !tg.tuple<tensor<i1>, tensor<i32>> -> tensor<i32>
  func.return %0 : tensor<i32>
}
