// The upgraded kernel is one that each later stage takes.

// RUN: tg-opt %s -p 'tg-upgrade-legacy,tg-optimize{mode=explicit opts="split 0, 2, unroll"},tg-expand,tg-select,tg-linearize,tg-plan' --verify-each=true | filecheck %s --check-prefix=PLAN
// RUN: tg-opt %s -p 'tg-upgrade-legacy,tg-optimize{mode=heuristic},tg-expand,tg-select,tg-linearize,tg-plan,tg-render' --verify-each=true | filecheck %s --check-prefix=RENDER
// PLAN: tg.program @dot
// RENDER: llvm.func {{.*}}@dot

tg.program @dot {
  %0 = tg.linear {
    %data0 = tg_legacy.define_global 0 "data0" mutable : tensor<?xi32, #tg.place<global>>
    %data1 = tg_legacy.define_global 1 "data1" : tensor<?xi32, #tg.place<global>>
    %data2 = tg_legacy.define_global 2 "data2" : tensor<?xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %c0 : tensor<i32>
    %i = tg_legacy.loop from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %data1 at %i : tensor<?xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %y = tg_legacy.load %data2 at %i : tensor<?xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %p = tg_legacy.alu "BinaryOps.MUL" %x, %y : tensor<i32>
    %s = tg_legacy.alu "BinaryOps.ADD" %p, %acc : tensor<i32>
    %n = tg_legacy.phi %acc, %s over %i : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %e = tg_legacy.endloop %i : tensor<i32>
    %t = tg_legacy.store %data0 at %c0 value %n : tensor<?xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}
