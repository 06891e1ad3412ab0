// RUN: tg-opt %s -p 'tg-optimize{mode=explicit opts="split 1, 16, upcast","stage 2, 1, global" features=avx512f threads=1},tg-verify{level=kernels}' --verify-each=true | filecheck %s
// RUN: tg-opt %s -p 'tg-optimize{mode=heuristic features=avx512f threads=1 l2=2097152},tg-verify{level=kernels}' | filecheck %s --check-prefix=MODEL
// RUN: sed 's/tg.constant/tg.constant, tg.data = #tg.data<file "w.bin", offset = 0, length = 7680>/' %s | tg-opt - -p 'tg-optimize{mode=heuristic features=avx512f threads=1 l2=2097152}' | filecheck %s --check-prefixes=MODEL,DATA
// RUN: tg-opt %s -p 'tg-optimize{mode=explicit opts="stage 2, 1, global","split 1, 16, upcast","stage 2, 3, global" features=avx512f threads=1},tg-verify{level=kernels}' --verify-each=true | filecheck %s --check-prefix=TWICE
// RUN: not tg-opt %s -p 'tg-stage{slot=1 axis=1 space=global}' 2>&1 | filecheck %s --check-prefix=NOTHING
// RUN: not tg-opt %s -p 'tg-stage{slot=0 axis=1 space=global}' 2>&1 | filecheck %s --check-prefix=RESULT
// RUN: not tg-opt %s -p 'tg-stage{slot=2 axis=2 space=global}' 2>&1 | filecheck %s --check-prefix=LOOP

// STAGE in global memory: another kernel puts together what a tile loads, and is called before. The
// heuristic does that to what is constant, since it is done once then.

// CHECK-LABEL: tg.kernel @gemm_prepack_2
// CHECK-NEXT:  %{{.*}} = tg.param 0 : tensor<3x40x16xf32, #tg.place<global>>
// CHECK-NEXT:  %{{.*}} = tg.param 1 : tensor<48x40xf32, #tg.place<global>>
// CHECK:       tg.end %{{.*}} over
// CHECK-LABEL: tg.kernel @gemm {
// CHECK:       [[W:%.*]] = tg.param 2 : tensor<3x40x16xf32, #tg.place<global>>
// CHECK:       tg.index [[W]][%{{.*}}, %k, %{{.*}}]
// CHECK:       opts [#tg.opt<split 1, 16, upcast>, #tg.opt<stage 2, 1, global>]
// CHECK-LABEL: func.func @main
// CHECK:       [[B:%.*]] = tg.buffer 1 : tensor<3x40x16xf32, #tg.place<"CPU", global>>
// CHECK-NEXT:  [[C:%.*]] = tg.call @gemm_prepack_2([[B]], %w)
// CHECK-NEXT:  [[A:%.*]] = tg.after [[B]], [[C]]
// CHECK-NEXT:  %{{.*}} = tg.call @gemm(%t, %x, [[A]])
// CHECK:       tg.call @gemm(%o, %{{.*}}, [[A]])

// TWICE-LABEL: func.func @main
// TWICE:       [[C:%.*]] = tg.call @gemm_prepack_2(%{{.*}}, %w)
// TWICE:       [[A:%.*]] = tg.after %{{.*}}, [[C]]
// TWICE:       tg.call @gemm_prepack_2_1(%{{.*}}, [[A]])

// What is short and BINARY is packed without a schedule: its code is made for one run.
// MODEL-LABEL: tg.kernel @gemm_prepack_2
// DATA:        tg.sink %{{.*}} opts []
// MODEL-LABEL: tg.kernel @gemm {
// MODEL:       stage 2, 1, global

// NOTHING: error: pass tg-stage: stage 1, 1, global: nothing of parameter 1 is loaded in the loop of range 1
// RESULT: error: pass tg-stage: stage 0, 1, global: parameter 0 is written in this kernel
// LOOP: error: pass tg-stage: stage 2, 2, global: range 2 is no loop that an END closes

#g = #tg.place<global>
#cpu = #tg.place<"CPU", global>
module attributes {tg.target = #tg.target<"cpu", features = []>} {
tg.kernel @gemm {
  %o = tg.param 0 : tensor<40x48xf32, #g>
  %a = tg.param 1 : tensor<40x40xf32, #g>
  %b = tg.param 2 : tensor<48x40xf32, #g>
  %c40 = tg.const 40 : tensor<index>
  %c48 = tg.const 48 : tensor<index>
  %i = tg.range 0 loop to %c40 : tensor<index>
  %j = tg.range 1 loop to %c48 : tensor<index>
  %k = tg.range 2 reduce to %c40 : tensor<index>
  %al = tg.index %a[%i, %k] : (tensor<40x40xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %av = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %bl = tg.index %b[%j, %k] : (tensor<48x40xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %bv = tg.load %bl : tensor<f32, #g> -> tensor<f32>
  %m = tg.mul %av, %bv : tensor<f32>
  %r = tg.reduce add %m [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%i, %j] : (tensor<40x48xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %r : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

func.func @main(%x: tensor<40x40xf32, #cpu>, %w: tensor<48x40xf32, #cpu> {tg.constant}, %o: tensor<40x48xf32, #cpu> {tg.output}) {
  %t = tg.buffer 0 : tensor<40x48xf32, #cpu>
  %0 = tg.call @gemm(%t, %x, %w) : (tensor<40x48xf32, #cpu>, tensor<40x40xf32, #cpu>, tensor<48x40xf32, #cpu>) -> !tg.void
  %1 = tg.after %x, %0 : (tensor<40x40xf32, #cpu>, !tg.void) -> tensor<40x40xf32, #cpu>
  %2 = tg.call @gemm(%o, %1, %w) : (tensor<40x48xf32, #cpu>, tensor<40x40xf32, #cpu>, tensor<48x40xf32, #cpu>) -> !tg.void
  %3 = tg.sink %2 : !tg.void
  func.return
}
}
