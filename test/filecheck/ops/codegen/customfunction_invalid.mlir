// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: i32) {
  // expected-error@below {{operand 'meta' at position 0 does not verify: expected a tensor, got i32}}
  %0 = "tg.customfunction"(%x) <{sym_name = "f"}> : (i32) -> !tg.void
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{Expected attribute !tg.void but got tensor<f32>}}
  %0 = "tg.customfunction"() <{sym_name = "f"}> : () -> tensor<f32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{reads lists arguments by number, each once: [0, 0]}}
  %0 = tg.customfunction @f() reads [0, 0]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{writes lists arguments by number, each once: [-1]}}
  %0 = tg.customfunction @f() writes [-1]
  func.return
}

// -----

tg.customfunction @fill() writes [1]
func.func @f(%x: tensor<4xf32, #tg.place<"CPU", global>>, %n: tensor<index>) {
  // expected-error@below {{@fill accesses the memory of argument 1, which is none here}}
  %0 = tg.call @fill(%x, %n) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> !tg.void
  func.return
}
