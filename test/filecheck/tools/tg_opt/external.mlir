// RUN: not tg-opt %s -p 'mlir-opt{executable=touch arguments=%t.started}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not tg-opt %s -p transform-interpreter -o %t.out 2>&1 | filecheck %s --check-prefix=INDIRECT
// RUN: not ls %t.started
// RUN: not ls %t.out
// RUN: not tg-opt %s -p transform-interpreter --allow-external 2>&1 | filecheck %s --check-prefix=ALLOWED

// NAME:     tg-opt: error: pass 'mlir-opt' starts another program: it needs --allow-external
// INDIRECT: error: pass transform-interpreter: starts another program 'touch': it needs --allow-external
// ALLOWED:  error: pass transform-interpreter: Error
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op) {
    %0 = transform.apply_registered_pass "mlir-opt{executable=\"touch\" arguments=\"--not-an-option\"}" to %m : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
