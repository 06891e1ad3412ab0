// RUN: tg-opt %s --split-input-file --verify-diagnostics | filecheck %s

func.func @type(%a: i32) -> i32 {
  // expected-error@+1 {{operand is used with type i64}}
  %0 = arith.addi %a, %a : i64
  func.return %a : i32
}

// -----

func.func @rule(%a: i32) -> i64 {
  // expected-error@below {{expected [i64], got [i32]}}
  func.return %a : i32
}

// -----

func.func @dominance() {
  "test.op"(%x) : (i32) -> () // expected-error-re {{operand #{{[0-9]}} (%x) does not dominate}}
  %x = arith.constant 1 : i32
  func.return
}

// -----

// CHECK: func.func @good
func.func @good() {
  func.return
}

// -----

func.func @block() {
  cf.br ^nowhere
  // expected-error@above {{reference to undefined block ^nowhere}}
}
