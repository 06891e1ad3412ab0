// RUN: not tg-opt %s -p 'cse,tg-optimize{mode=explicit opts="split 0, 4, upcast"},dce' --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: filecheck %s --check-prefix=FILE < %t.mlir
// RUN: not tg-opt --run-reproducer %t.mlir 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: tg-opt %t.mlir | filecheck %s --check-prefix=PARSED
// RUN: not tg-opt %s -p cse,tg-expand,dce --mlir-pass-pipeline-crash-reproducer=%t.local.mlir --mlir-pass-pipeline-local-reproducer 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: filecheck %s --check-prefix=LOCAL < %t.local.mlir
// RUN: not tg-opt --run-reproducer %t.local.mlir --mlir-pass-pipeline-crash-reproducer=%t.again.mlir 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: filecheck %s --check-prefix=LOCAL < %t.again.mlir
// RUN: not tg-opt --run-reproducer %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not tg-opt --run-reproducer -p cse %t.mlir 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not tg-opt %s --mlir-pass-pipeline-local-reproducer 2>&1 | filecheck %s --check-prefix=ALONE
// RUN: not tg-opt %s -p tg-expand --mlir-pass-pipeline-crash-reproducer=%t/none/r.mlir 2>&1 | filecheck %s --check-prefix=UNWRITTEN

// A pass that fails leaves the module as it was parsed, and the whole pipeline; a local reproducer
// the module as it was before, and the rest of the pipeline.

// ERROR:      error: pass tg-{{.*}} needs level kernels
// ERROR:      note: reproducer: {{.*}}.mlir

// FILE:       // tgdialect reproducer: pass
// FILE-NEXT:  // tg-opt --run-reproducer {{.*}}crash_reproducer.mlir.tmp.mlir
// FILE-NEXT:  // pass tg-optimize: {{.*}} needs level kernels
// FILE-NEXT:  // tgdialect {{.*}}, xdsl {{.*}}
// FILE:       func.func @main(
// FILE:         tg.neg
// FILE:         tg.neg
// FILE:       {-#
// FILE-NEXT:    external_resources: {
// FILE-NEXT:      mlir_reproducer: {
// FILE-NEXT:        pipeline: "builtin.module(cse,tg-optimize{mode=\"explicit\" opts=\"split 0, 4, upcast\"},dce)",
// FILE-NEXT:        disable_threading: true,
// FILE-NEXT:        verify_each: true
// FILE-NEXT:      }
// FILE-NEXT:    }
// FILE-NEXT:  #-}

// AGAIN:      .mlir:{{[0-9:]+}} error: pass tg-{{.*}} needs level kernels

// PARSED:     func.func @main
// PARSED-NOT: mlir_reproducer

// LOCAL:      // tgdialect reproducer: pass
// LOCAL-NOT:  tgdialect reproducer
// LOCAL:      tg.neg
// LOCAL-NOT:  tg.neg
// LOCAL:      pipeline: "builtin.module(tg-expand,dce)",
// LOCAL-NOT:  pipeline

// NONE:       error: {{.*}}crash_reproducer.mlir states no pipeline: it is no reproducer
// BOTH:       error: --run-reproducer runs the pipeline of the file: name no passes
// ALONE:      error: --mlir-pass-pipeline-local-reproducer is for --mlir-pass-pipeline-crash-reproducer
// UNWRITTEN:  error: pass tg-expand
// UNWRITTEN:  note: cannot write {{.*}}/none/r.mlir: No such file or directory
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = tg.neg %x : tensor<3xf32>
  %1 = tg.neg %x : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
