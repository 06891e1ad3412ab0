// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{expected lower-case hexadecimal bytes: there are 3 digits}}
  %0 = tg.binary "7f4" : tensor<1xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{expected lower-case hexadecimal bytes: 'F' is none}}
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

// -----

func.func @f() {
  // expected-error@below {{expected lower-case hexadecimal bytes: ' ' is none}}
  %0 = "tg.binary"() <{data = #tg.data<"7f 45">}> : () -> tensor<2xui8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{"7f" should be of base attribute tg.data}}
  %0 = "tg.binary"() <{data = "7f"}> : () -> tensor<1xui8>
  func.return
}
