// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%v: !tg.void) {
  // expected-error@below {{an ENDIF ends an IF, not a block argument}}
  %0 = tg_legacy.endif %v : !tg.void
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@below {{an ENDIF ends an IF, not a block argument}}
  %0 = tg_legacy.endif %c : tensor<i1>
  func.return
}

// -----

func.func @f(%c: tensor<i1>, %n: tensor<i32>) {
  // expected-error@below {{tg_legacy.endrange does not close the innermost open block}}
  %l = tg.linear {
    %i = tg_legacy.range 0 from %n to %n : tensor<i32>
    %0 = tg_legacy.if %c : tensor<i1>
    %d = tg_legacy.endrange %i : tensor<i32>
    %e = tg_legacy.endif %0 : !tg.void
  }
  func.return
}
