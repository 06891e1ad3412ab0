// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<index>) {
  // expected-error@below {{axis id -1 is negative}}
  %0 = tg.range -1 loop to %n : tensor<index>
  func.return
}

// -----

func.func @f(%n: tensor<f32>) {
  // expected-error@below {{the bound of a range is an integer, not tensor<f32>}}
  %0 = tg.range 0 loop to %n : tensor<f32>
  func.return
}

// -----

func.func @f(%n: tensor<4xi32>) {
  // expected-error@below {{the bound of a range is an integer, not tensor<4xi32>}}
  %0 = tg.range 0 loop to %n : tensor<4xi32>
  func.return
}

// -----

func.func @f(%n: tensor<i1>) {
  // expected-error@below {{the bound of a range is an integer, not tensor<i1>}}
  %0 = tg.range 0 loop to %n : tensor<i1>
  func.return
}

// -----

func.func @f() {
  %n = tg.const -3 : tensor<index>
  // expected-error@below {{the bound of range 0 may be negative: -3}}
  %0 = tg.range 0 loop to %n : tensor<index>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 "n" min -1 max 8 : tensor<index>
  // expected-error@below {{the bound of range 2 may be negative: -1}}
  %0 = tg.range 2 loop to %n : tensor<index>
  func.return
}

// -----

func.func @f(%n: tensor<index>) {
  // expected-error@below {{Expected `global`, `local`, `warp`, `thread`, `loop`, `reduce`, `group_reduce`, `upcast`, or `unroll`}}
  %0 = tg.range 0 parallel to %n : tensor<index>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{Expected attribute tensor<index> but got tensor<i32>}}
  %0 = "tg.range"(%n) <{axis = #tg.number<0>, axis_type = #tg<axis_type loop>}> : (tensor<i32>) -> tensor<i32>
  func.return
}
