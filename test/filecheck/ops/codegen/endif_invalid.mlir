// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  %s = tg.group
  // expected-error@below {{an ENDIF ends an IF}}
  %e = tg.endif %s
  func.return
}

// -----

func.func @f(%g: tensor<i1>) {
  // expected-error@below {{operand 'begin' at position 0 does not verify: Expected attribute !tg.void but got tensor<i1>}}
  %e = "tg.endif"(%g) : (tensor<i1>) -> !tg.void
  func.return
}
