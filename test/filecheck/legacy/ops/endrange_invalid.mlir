// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{an ENDRANGE ends a RANGE, not a block argument}}
  %0 = tg_legacy.endrange %n : tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  %i = tg_legacy.loop from %n to %n : tensor<i32>
  // expected-error@below {{an ENDRANGE ends a RANGE, not tg_legacy.loop}}
  %0 = tg_legacy.endrange %i : tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{tg_legacy.endrange does not close the innermost open block}}
  %l = tg.linear {
    %i = tg_legacy.range 0 from %n to %n : tensor<i32>
    %j = tg_legacy.range 1 from %n to %n : tensor<i32>
    %ei = tg_legacy.endrange %i : tensor<i32>
    %ej = tg_legacy.endrange %j : tensor<i32>
  }
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{tg_legacy.range is never closed}}
  %l = tg.linear {
    %i = tg_legacy.range 0 from %n to %n : tensor<i32>
  }
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{tg.neg uses %x after the RANGE or IF around its definition is closed}}
  %l = tg.linear {
    %i = tg_legacy.range 0 from %n to %n : tensor<i32>
    %x = tg.neg %i : tensor<i32>
    %ei = tg_legacy.endrange %i : tensor<i32>
    %y = tg.neg %x : tensor<i32>
  }
  func.return
}
