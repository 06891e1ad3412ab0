// RUN: not tg-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

// CHECK: verify_diagnostics_unmet.mlir:[[# @LINE + 1]]:4: error: expected error "nothing like it" was not produced
// expected-error@+2 {{nothing like it}}
func.func @f(%a: i32) {
  // CHECK: verify_diagnostics_unmet.mlir:[[# @LINE + 1]]:8: error: unexpected error: Unexpected
  %0 = arith.constant "x" : i32
  func.return
}

// -----

// CHECK: :[[# @LINE + 1]]:4: error: expected warning "of something" was not produced
// expected-warning {{of something}}
func.func @f() {
  func.return
}
