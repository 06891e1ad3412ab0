// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{a BLOCKSTART begins a RANGE or an IF, not a block argument}}
  %0 = tg_legacy.blockstart %n : tensor<i32>
  func.return
}

// -----

%d = tg_legacy.device "CPU"
// expected-error@below {{a BLOCKSTART begins a RANGE or an IF, not tg_legacy.device}}
%0 = tg_legacy.blockstart %d : !tg.void
