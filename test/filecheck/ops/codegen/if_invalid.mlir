// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%g: tensor<i32>) {
  // expected-error@below {{the gate of an IF is tensor<i1>, not tensor<i32>}}
  %b = tg.if %g : tensor<i32>
  %e = tg.endif %b
  func.return
}

// -----

func.func @f(%g: tensor<4xi1>) {
  // expected-error@below {{the gate of an IF is tensor<i1>, not tensor<4xi1>}}
  %b = tg.if %g : tensor<4xi1>
  %e = tg.endif %b
  func.return
}

// -----

func.func @f(%g: tensor<i1>) {
  // expected-error@below {{an IF has one ENDIF, not 0}}
  %b = tg.if %g : tensor<i1>
  func.return
}

// -----

func.func @f(%g: tensor<i1>) {
  // expected-error@below {{an IF has one ENDIF, not 2}}
  %b = tg.if %g : tensor<i1>
  %d = tg.endif %b
  %e = tg.endif %b
  func.return
}
