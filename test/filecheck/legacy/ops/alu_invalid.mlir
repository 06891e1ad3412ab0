// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{'BinaryOps.PLUS' is not one of UnaryOps.EXP2, UnaryOps.LOG2, UnaryOps.SIN, UnaryOps.SQRT, UnaryOps.RECIP, UnaryOps.NEG, BinaryOps.ADD, BinaryOps.SUB, BinaryOps.MUL, BinaryOps.DIV, BinaryOps.MAX, BinaryOps.CMPLT, BinaryOps.CMPNE, BinaryOps.CMPEQ, BinaryOps.XOR, BinaryOps.SHL, BinaryOps.SHR, BinaryOps.OR, BinaryOps.AND, TernaryOps.WHERE, TernaryOps.MULACC, BinaryOps.IDIV, BinaryOps.MOD}}
  %0 = tg_legacy.alu "BinaryOps.PLUS" %x, %x : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{BinaryOps.ADD has 2 sources, got 1}}
  %0 = tg_legacy.alu "BinaryOps.ADD" %x : tensor<f32>
  func.return
}

// -----

// expected-error@below {{BinaryOps.ADD has 2 sources, got 0}}
%0 = "tg_legacy.alu"() <{operation = "BinaryOps.ADD"}> : () -> tensor<f32>

// -----

func.func @f(%x: tensor<f32>, %y: tensor<i32>) {
  // expected-error@below {{BinaryOps.ADD of f32 and i32}}
  %0 = tg_legacy.alu "BinaryOps.ADD" %x, %y : (tensor<f32>, tensor<i32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{BinaryOps.IDIV is defined on integers, not f32}}
  %0 = tg_legacy.alu "BinaryOps.IDIV" %x, %x : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{UnaryOps.SQRT is defined on floats, not i32}}
  %0 = tg_legacy.alu "UnaryOps.SQRT" %x : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i1>) {
  // expected-error@below {{BinaryOps.DIV is defined on integers and floats, not i1}}
  %0 = tg_legacy.alu "BinaryOps.DIV" %x, %x : tensor<i1>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{TernaryOps.WHERE is defined on bool, not f32}}
  %0 = tg_legacy.alu "TernaryOps.WHERE" %x, %x, %x : tensor<f32>
  func.return
}

// -----

func.func @f(%b: tensor<i1>, %x: tensor<f32>, %y: tensor<f16>) {
  // expected-error@below {{TernaryOps.WHERE of i1 and f32 and f16}}
  %0 = tg_legacy.alu "TernaryOps.WHERE" %b, %x, %y : (tensor<i1>, tensor<f32>, tensor<f16>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>, %y: tensor<f32>) {
  // expected-error@below {{BinaryOps.SHL of i32 and f32}}
  %0 = tg_legacy.alu "BinaryOps.SHL" %x, %y : (tensor<i32>, tensor<f32>) -> tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{axis 0: 4 and 3 do not broadcast}}
  %0 = tg_legacy.alu "BinaryOps.MAX" %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{the result type is written as tensor<f32>, but the op gives tensor<i1>}}
  %0 = tg_legacy.alu "BinaryOps.CMPLT" %x, %x : tensor<f32>
  func.return
}
