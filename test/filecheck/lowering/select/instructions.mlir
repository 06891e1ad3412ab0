// RUN: tg-opt %s -p "tg-select{target=cpu features=avx2,popcnt}" | filecheck %s
// RUN: tg-opt %s -p "tg-select{target=cpu features=avx2,popcnt},tg-linearize,tg-plan,tg-render" -t llvm | filecheck %s --check-prefix=LLVM

// Registers of eight cells, and one of which four are used; an instruction on single cells.
tg.kernel @k {
  %p = tg.param 0 : tensor<12xi32, #tg.place<global>>
  %o = tg.param 1 : tensor<12xi32, #tg.place<global>>
  %l = tg.load %p : tensor<12xi32, #tg.place<global>> -> tensor<12xi32>
  // CHECK-COUNT-1: tg.ins "cpu.vpmaddwd"(%{{.*}}, %{{.*}}) : tensor<8xi32>
  // CHECK-COUNT-1: tg.ins "cpu.vpmaddwd"(%{{.*}}, %{{.*}}) : tensor<4xi32>
  // LLVM: call <8 x i32> asm "vpmaddwd $2, $1, $0", "=x,x,x"(<8 x i32> %{{.*}}, <8 x i32> %{{.*}})
  %x = tg.ins "cpu.vpmaddwd"(%l, %l) : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
  // CHECK-COUNT-12: tg.ins "cpu.popcnt"(%{{.*}}) : tensor<i32>
  // LLVM: call i32 asm "popcnt $1, $0", "=r,r,~{flags}"(i32 %{{.*}})
  %y = tg.ins "cpu.popcnt"(%x) : tensor<12xi32>
  // CHECK: tg.ins "cpu.pause"() : !tg.void
  // LLVM: call void asm sideeffect "pause", ""()
  %z = tg.ins "cpu.pause"() : !tg.void
  %q = tg.after %o, %z : (tensor<12xi32, #tg.place<global>>, !tg.void) -> tensor<12xi32, #tg.place<global>>
  %s = tg.store %q, %y : tensor<12xi32, #tg.place<global>>, tensor<12xi32>
  %k = tg.sink %s : !tg.void
}
func.func @main(%a: tensor<12xi32, #tg.place<"CPU", global>>, %r: tensor<12xi32, #tg.place<"CPU", global>> {tg.output}) {
  %0 = tg.call @k(%a, %r) : (tensor<12xi32, #tg.place<"CPU", global>>, tensor<12xi32, #tg.place<"CPU", global>>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}
