// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: i32) {
  // expected-error@below {{operand 'meta' at position 0 does not verify: expected a tensor, got i32}}
  %0 = "tg.customfunction"(%x) <{sym_name = "f"}> : (i32) -> !tg.void
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{Expected attribute !tg.void but got tensor<f32>}}
  %0 = "tg.customfunction"() <{sym_name = "f"}> : () -> tensor<f32>
  func.return
}
