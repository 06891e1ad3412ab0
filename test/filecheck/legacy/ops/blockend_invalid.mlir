// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<i32>) {
  %b = tg_legacy.block
  // expected-error@below {{a BLOCKEND ends a RANGE or an IF, not a block argument}}
  %0 = tg_legacy.blockend %n after %b : tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  %i = tg_legacy.range 0 from %n to %n : tensor<i32>
  // expected-error@below {{a BLOCKEND comes after at least one block}}
  %0 = "tg_legacy.blockend"(%i) : (tensor<i32>) -> !tg.void
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  %i = tg_legacy.range 0 from %n to %n : tensor<i32>
  %d = tg_legacy.device "CPU"
  // expected-error@below {{expected a BLOCK, BLOCKSTART, BLOCKFORK or BLOCKEND, got tg_legacy.device}}
  %0 = tg_legacy.blockend %i after %d : tensor<i32>
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@below {{an IF has one ENDIF or BLOCKEND, not 2}}
  %if = tg_legacy.if %c : tensor<i1>
  %b = tg_legacy.blockstart %if : !tg.void
  %0 = tg_legacy.blockend %if after %b : !tg.void
  %1 = tg_legacy.endif %if : !tg.void
  func.return
}
