// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the source of VALID is a VIEW, not a block argument}}
  %0 = tg_legacy.valid %x : tensor<4xf32> -> tensor<4xi1>
  func.return
}

// -----

%d = tg_legacy.device "CPU"
// expected-error@below {{the source of VALID is a VIEW, not tg_legacy.device}}
%0 = tg_legacy.valid %d : !tg.void -> tensor<4xi1>

// -----

%v = tg_legacy.view [#tg_legacy.view<[6]>] : !tg.void
// expected-error@below {{the result type is written as tensor<4xi1>, but the op gives tensor<6xi1>}}
%0 = tg_legacy.valid %v : !tg.void -> tensor<4xi1>

// -----

%v = tg_legacy.view [#tg_legacy.view<[6]>] : !tg.void
// expected-error@below {{the result type is written as tensor<6xi32>, but the op gives tensor<6xi1>}}
%0 = tg_legacy.valid %v : !tg.void -> tensor<6xi32>
