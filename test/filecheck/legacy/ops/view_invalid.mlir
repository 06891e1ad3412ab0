// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<24xf32>) {
  // expected-error@below {{a VIEW has at least one view}}
  %0 = tg_legacy.view %x [] : tensor<24xf32>
  func.return
}

// -----

func.func @f(%x: tensor<24xf32>) {
  // expected-error@below {{the view has positions 0 to 24 of 24}}
  %0 = tg_legacy.view %x [#tg_legacy.view<[25]>] : tensor<24xf32> -> tensor<25xf32>
  func.return
}

// -----

func.func @f(%x: tensor<24xf32>) {
  // expected-error@below {{the view has positions -1 to 22 of 24}}
  %0 = tg_legacy.view %x [#tg_legacy.view<[24], strides = [-1], offset = 22>] : tensor<24xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the view has positions -1 to 3 of 4}}
  %0 = tg_legacy.view %x [#tg_legacy.view<[6], offset = -1, mask = [[0, 5]]>] : tensor<4xf32> -> tensor<6xf32>
  func.return
}

// -----

func.func @f(%x: tensor<24xf32>) {
  // expected-error@below {{the view has positions 0 to 12 of 12}}
  %0 = tg_legacy.view %x [#tg_legacy.view<[4, 3]>, #tg_legacy.view<[13]>] : tensor<24xf32> -> tensor<13xf32>
  func.return
}

// -----

func.func @f(%x: tensor<24xf32>) {
  // expected-error@below {{the result type is written as tensor<6x4xf32>, but the op gives tensor<4x6xf32>}}
  %0 = tg_legacy.view %x [#tg_legacy.view<[4, 6]>] : tensor<24xf32> -> tensor<6x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{a VIEW is of memory that is not sharded, not tensor<4xf32, #tg.place<["A", "B"], axis = 0>>}}
  %0 = tg_legacy.view %x [#tg_legacy.view<[2, 2]>] : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

%d = tg_legacy.device "CPU"
// expected-error@below {{the view has positions 0 to 3 of 1}}
%0 = tg_legacy.view %d [#tg_legacy.view<[4]>] : !tg.void

// -----

%u = tg_legacy.unique 0
// expected-error@below {{a VIEW is of memory, of a value, or of a DEVICE, not of tg_legacy.unique}}
%0 = tg_legacy.view %u [#tg_legacy.view<[4]>] : !tg.void

// -----

func.func @f(%u: !tg.void) {
  // expected-error@below {{a VIEW is of memory, of a value, or of a DEVICE, not of a block argument}}
  %0 = tg_legacy.view %u [#tg_legacy.view<[4]>] : !tg.void
  func.return
}

// -----

// expected-error@below {{the result type is written as tensor<4xf32>, but the op gives !tg.void}}
%0 = tg_legacy.view [#tg_legacy.view<[4]>] : tensor<4xf32>

// -----

// expected-error@below {{4 : i32 should be of base attribute tg_legacy.view}}
%0 = "tg_legacy.view"() <{views = [4 : i32]}> : () -> !tg.void
