// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{'7f4' is not a string of lower-case hexadecimal bytes}}
  %0 = tg.binary "7f4" : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{'7F' is not a string of lower-case hexadecimal bytes}}
  %0 = tg.binary "7F" : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the result type is written as tensor<2xui8>, but the op gives tensor<4xui8>}}
  %0 = tg.binary "7f454c46" : tensor<2xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the result type is written as tensor<1xi8>, but the op gives tensor<1xui8>}}
  %0 = tg.binary "00" : tensor<1xi8>
  func.return
}
