// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<index>) {
  // expected-error@below {{"gidx3" is not gidx, lidx or idx and 0, 1 or 2}}
  %0 = tg.special "gidx3" to %n : tensor<index>
  func.return
}

// -----

func.func @f(%n: tensor<index>) {
  // expected-error@below {{"thread" is not gidx, lidx or idx and 0, 1 or 2}}
  %0 = tg.special "thread" to %n : tensor<index>
  func.return
}

// -----

func.func @f() {
  %n = tg.const 0 : tensor<index>
  // expected-error@below {{the bound of "gidx0" is not positive: 0}}
  %0 = tg.special "gidx0" to %n : tensor<index>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{Expected attribute tensor<index> but got tensor<i32>}}
  %0 = tg.special "gidx0" to %n : tensor<i32>
  func.return
}
