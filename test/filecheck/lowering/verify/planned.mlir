// RUN: tg-opt %s -p 'tg-verify{level=planned}' --verify-diagnostics --split-input-file

func.func @buffer() {
  // expected-error@below {{tg.buffer is not part of func.func at level planned}}
  %b = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
  tg.linear {
  ^bb0:
  }
  func.return
}

// -----

// expected-error@below {{a {tg.workspace} argument comes after all others}}
func.func @workspace(%w: tensor<4xui8, #tg.place<"CPU", global>> {tg.workspace}, %a: tensor<4xf32, #tg.place<"CPU", global>>) {
  tg.linear {
  ^bb0:
  }
  func.return
}

// -----

func.func @transposed(%r: tensor<4x2xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{tg.permute is not part of func.func at level planned}}
  %f = tg.permute %r [1, 0] : tensor<4x2xf32, #tg.place<"CPU", global>> -> tensor<2x4xf32, #tg.place<"CPU", global>>
  tg.linear {
  ^bb0:
  }
  func.return
}
