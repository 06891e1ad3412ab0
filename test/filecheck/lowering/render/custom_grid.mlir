// CUSTOM in the languages of grids, and where LLVM makes the code of a GPU: there it has intrinsics only.

// RUN: tg-opt %s -p 'tg-select{target=opencl},tg-linearize,tg-plan,tg-render' -t opencl | filecheck %s
// RUN: tg-opt %s -p 'tg-select{target="nvidia:sm_90"},tg-linearize,tg-plan,tg-render{output=cuda}' -t cuda | filecheck %s
// RUN: tg-opt %s -p 'tg-select{target=metal},tg-linearize,tg-plan,tg-render' -t metal | filecheck %s
// RUN: not tg-opt %s -p 'tg-select{target="nvidia:sm_90"},tg-linearize,tg-plan,tg-render' 2>&1 | filecheck %s --check-prefix=LLVM

// CHECK: = ((int)(my_function({{\(?}}
// LLVM: error: pass tg-render: this output has no function 'my_function': it has intrinsics of LLVM, as llvm.ctpop.i32
tg.kernel @k {
  %p = tg.param 0 : tensor<4xi32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %at = tg.index %p[%i] : (tensor<4xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %v = tg.load %at : tensor<i32, #tg.place<global>> -> tensor<i32>
  %x = tg.custom "my_function({0})"(%v) : tensor<i32>
  %s = tg.store %at, %x : tensor<i32, #tg.place<global>>, tensor<i32>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}
