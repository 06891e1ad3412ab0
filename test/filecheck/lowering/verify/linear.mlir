// RUN: tg-opt %s -p 'tg-verify{level=linear}' --verify-diagnostics --split-input-file

tg.program @after {
  tg.linear {
    %o = tg.param 0 : tensor<f32, #tg.place<global>>
    %v = tg.const 1.0 : tensor<f32>
    %s = tg.store %o, %v : tensor<f32, #tg.place<global>>, tensor<f32>
    // expected-error@below {{tg.after is not part of tg.program at level linear}}
    %a = tg.after %o, %s : (tensor<f32, #tg.place<global>>, !tg.void) -> tensor<f32, #tg.place<global>>
    tg.sink %a : tensor<f32, #tg.place<global>>
  }
}

// -----

tg.program @gated {
  tg.linear {
    %o = tg.param 0 : tensor<f32, #tg.place<global>>
    %v = tg.const 1.0 : tensor<f32>
    %g = tg.const true : tensor<i1>
    // expected-error@below {{a gated STORE is inside an IF at this level}}
    %s = tg.store %o, %v gate %g : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
    tg.sink %s : !tg.void
  }
}

// -----

tg.program @axes {
  tg.linear {
    %o = tg.param 0 : tensor<4x4xf32, #tg.place<global>>
    %c = tg.const 0 : tensor<index>
    // expected-error@below {{memory is indexed by one flat index, not 2 axes of it}}
    %l = tg.index %o[%c, %c] : (tensor<4x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    tg.sink %l : tensor<f32, #tg.place<global>>
  }
}

// -----

tg.program @no_sink {
  // expected-error@below {{the tg.linear of a program ends in its tg.sink}}
  tg.linear {
    %c = tg.const 0 : tensor<index>
  }
}

// -----

tg.kernel @kernel { // expected-error {{tg.kernel is not part of level linear}}
  "tg.sink"() : () -> !tg.void
}

// -----

func.func @main() {
  tg.linear {
    // expected-error@below {{tg.const is not part of func.func at level linear}}
    %c = tg.const 0 : tensor<index>
  }
  func.return
}

// -----

tg.program @stack_of_vectors {
  tg.linear {
    %o = tg.param 0 : tensor<2x4xf32, #tg.place<global>>
    %c = tg.const 1.0 : tensor<f32>
    %one = tg.reshape %c [1] : tensor<f32> -> tensor<1xf32>
    %v = tg.expand %one [4] : tensor<1xf32> -> tensor<4xf32>
    %m = tg.stack %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    // expected-error@below {{tg.store of a STACK of vectors: only of one vector}}
    %s = tg.store %o, %m : tensor<2x4xf32, #tg.place<global>>, tensor<2x4xf32>
    tg.sink %s : !tg.void
  }
}
