// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%c: tensor<i32>) {
  // expected-error@below {{the condition of an IF is tensor<i1>, not tensor<i32>}}
  %0 = tg_legacy.if %c : tensor<i32>
  %1 = tg_legacy.endif %0 : !tg.void
  func.return
}

// -----

func.func @f(%c: tensor<4xi1>) {
  // expected-error@below {{the condition of an IF is tensor<i1>, not tensor<4xi1>}}
  %0 = tg_legacy.if %c : tensor<4xi1>
  %1 = tg_legacy.endif %0 : !tg.void
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  %d = tg_legacy.device "CPU"
  // expected-error@below {{an IF waits for a BARRIER, not tg_legacy.device}}
  %0 = tg_legacy.if %c after %d : tensor<i1>
  %1 = tg_legacy.endif %0 : !tg.void
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@below {{an IF has one ENDIF or BLOCKEND, not 0}}
  %0 = tg_legacy.if %c : tensor<i1>
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@below {{an IF has one ENDIF or BLOCKEND, not 2}}
  %0 = tg_legacy.if %c : tensor<i1>
  %1 = tg_legacy.endif %0 : !tg.void
  %2 = tg_legacy.endif %0 : !tg.void
  func.return
}
