// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{slot -1 is negative}}
  %0 = tg.param -1 : tensor<f32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{slots are not dense: there is no slot 1}}
  %0 = tg.param 0 : tensor<f32>
  %1 = tg.param 2 : tensor<f32>
  func.return
}

// -----

tg.kernel @k {
  // expected-error@below {{slots are not dense: there is no slot 0}}
  %0 = tg.param 1 : tensor<f32, #tg.place<global>>
  %1 = tg.sink
}

// -----

func.func @f() {
  // expected-error@below {{slot 0 is tensor<f32> and tensor<4xf32>}}
  %0 = tg.param 0 : tensor<f32>
  %1 = tg.param 0 : tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{min 5 is greater than max 4}}
  %0 = tg.param 0 "n" min 5 max 4 : tensor<index>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{[-1, 127] is outside the range of ui8}}
  %0 = tg.param 0 "n" min -1 max 127 : tensor<ui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{[-128, 128] is outside the range of i8}}
  %0 = tg.param 0 "n" max 128 : tensor<i8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{min and max are for integer scalars, not tensor<f32>}}
  %0 = tg.param 0 "x" min 0 : tensor<f32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{min and max are for integer scalars, not tensor<4xi32>}}
  %0 = tg.param 0 max 7 : tensor<4xi32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{1 dynamic dimensions but 0 index values}}
  %0 = tg.param 0 : tensor<?xf32>
  func.return
}

// -----

func.func @f(%n: tensor<index>) {
  // expected-error@below {{0 dynamic dimensions but 1 index values}}
  %0 = tg.param 0 (%n) : tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{i7 is not a dtype: i1, index, i8,}}
  %0 = tg.param 0 : tensor<4xi7>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{complex<f32> is not a dtype}}
  %0 = tg.param 0 : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the encoding of tensor<4xf32, "CPU"> is not a #tg.place}}
  %0 = tg.param 0 : tensor<4xf32, "CPU">
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{expected a tensor, got i32}}
  %0 = tg.param 0 : i32
  func.return
}
