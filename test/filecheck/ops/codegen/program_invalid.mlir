// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{a program begins with a tg.linear}}
tg.program @k {
  %0 = tg.source "x"
}

// -----

// expected-error@below {{a program holds a linear, then a source and a binary at most}}
tg.program @k {
  %0 = tg.linear {
    %c = tg.const 1.0 : tensor<f32>
  }
  %1 = tg.binary "00" : tensor<1xui8>
  %2 = tg.source "x"
}

// -----

// expected-error@below {{a program holds a linear, then a source and a binary at most}}
tg.program @k {
  %0 = tg.linear {
    %c = tg.const 1.0 : tensor<f32>
  }
  %1 = tg.const 1.0 : tensor<f32>
}

// -----

tg.program @k {
  %0 = tg.linear {
    // expected-error@below {{slots are not dense: there is no slot 0}}
    %p = tg.param 1 : tensor<f32, #tg.place<global>>
  }
}
