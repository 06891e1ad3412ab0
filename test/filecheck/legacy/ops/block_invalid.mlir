// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<i32>) {
  %a = tg_legacy.block %x : tensor<i32>
  // expected-error@below {{a tg_legacy.block is no member of a block: it comes before or after it}}
  %b = tg_legacy.block %a : !tg.void
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{a member is listed twice: 2 sources are 1 ops}}
  %a = tg_legacy.block %x, %x : tensor<i32>, tensor<i32>
  func.return
}

// -----

%d = tg_legacy.device "CPU"
// expected-error@below {{expected a BLOCK, BLOCKSTART, BLOCKFORK or BLOCKEND, got tg_legacy.device}}
%b = tg_legacy.block after %d

// -----

func.func @f(%v: !tg.void) {
  // expected-error@below {{expected a BLOCK, BLOCKSTART, BLOCKFORK or BLOCKEND, got a block argument}}
  %b = tg_legacy.block after %v
  func.return
}
