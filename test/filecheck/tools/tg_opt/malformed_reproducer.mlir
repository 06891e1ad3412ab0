// RUN: not tg-opt --run-reproducer %s 2>&1 | filecheck %s
// RUN: sed 's/no-such-pass,/cse, nope(/' %s > %t.mlir
// RUN: not tg-opt --run-reproducer %t.mlir 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: sed 's/"builtin/builtin/' %s > %t.mlir
// RUN: not tg-opt --run-reproducer %t.mlir 2>&1 | filecheck %s --check-prefix=TEXT

// CHECK:  error: unknown pass 'no-such-pass'
// SYNTAX: the pipeline of {{.*}}: error:
// TEXT:   .mlir:17:17: error: string literal expected
func.func @f() {
  return
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(no-such-pass,cse)"
    }
  }
#-}
