// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{a barrier is inside a kernel, not in func.func}}
  %0 = tg.barrier
  func.return
}

// -----

func.func @f(%i: i32) {
  // expected-error@below {{operand 'dependencies' at position 0 does not verify: Unexpected attribute i32}}
  %0 = "tg.barrier"(%i) : (i32) -> !tg.void
  func.return
}
