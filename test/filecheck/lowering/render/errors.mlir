// RUN: tg-opt %s --verify-each=false -p tg-render --split-input-file --verify-diagnostics

tg.program @custom {
  %0 = tg.linear {
    %x = tg.const 1 : tensor<i32>
    // expected-error@below {{the code '{0} + 1' is for C-like outputs: here it has to be a call like "f({0})", or a function that is registered for it (custom=, tg-run --custom)}}
    %i = tg.custom "{0} + 1"(%x) : tensor<i32>
    tg.sink
  }
}

// -----

tg.program @fp8 {
  %0 = tg.linear {
    // expected-error@below {{LLVM has no f8E5M2: tg-select stores its bits}}
    %c = tg.const 1.0 : tensor<f8E5M2>
    tg.sink
  }
}

// -----

tg.program @exp2 {
  %0 = tg.linear {
    %c = tg.const 1.5 : tensor<f32>
    // expected-error@below {{tg.exp2 has to be lowered before tg-render}}
    %e = tg.exp2 %c : tensor<f32>
    tg.sink
  }
}

// -----

tg.program @stack {
  %0 = tg.linear {
    // expected-error@below {{the buffers of this program take 8388608 bytes or more; the target cpu has 4194304 for them}}
    %b = tg.buffer 0 : tensor<2097152xf32, #tg.place<local>>
    tg.sink
  }
}

// -----

// expected-error@below {{tg.kernel has to be lowered before tg-render}}
tg.kernel @kernel {
  tg.sink
}

// -----

func.func @main(%n: tensor<index>) {
  // expected-error@below {{a global buffer has no memory yet: run tg-plan first}}
  %0 = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
  %1 = tg.linear {
    tg.sink
  }
  func.return
}
