// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<i32>) {
  %i = tg_legacy.range 0 from %n to %n : tensor<i32>
  // expected-error@below {{an ENDLOOP ends a LOOP, not tg_legacy.range}}
  %0 = tg_legacy.endloop %i : tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{an ENDLOOP ends a LOOP, not a block argument}}
  %0 = tg_legacy.endloop %n : tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{tg_legacy.endloop does not close the innermost open block}}
  %l = tg.linear {
    %i = tg_legacy.loop from %n to %n : tensor<i32>
    %j = tg_legacy.loop from %n to %n : tensor<i32>
    %ei = tg_legacy.endloop %i : tensor<i32>
    %ej = tg_legacy.endloop %j : tensor<i32>
  }
  func.return
}
