// RUN: tg-opt %s --verify-each=false -p tg-render --split-input-file --verify-diagnostics

// What a program relies on to stay inside its memory, its callers have to keep.

#g = #tg.place<global>
#cpu = #tg.place<"CPU", global>
!i = tensor<index>
tg.program @bounded {
  %0 = tg.linear {
    %n = tg.param 0 "n" min 0 max 8 : !i
    tg.sink
  }
}

func.func @main(%n: !i {tg.min = 0 : index, tg.max = 9 : index}) {
  %0 = tg.linear {
    // expected-error@below {{argument 0 of @bounded is in [0, 9], but has to be in [0, 8]}}
    %1 = tg.call @bounded(%n) : !i -> !tg.void
  }
  func.return
}

// -----

#g = #tg.place<global>
#cpu = #tg.place<"CPU", global>
!i = tensor<index>
tg.program @dynamic {
  %0 = tg.linear {
    %n = tg.param 0 : !i
    %x = tg.param 1 (%n) : tensor<?xf32, #g>
    tg.sink
  }
}

func.func @main(%x: tensor<4xf32, #cpu>) {
  %n = tg.const 5 : !i
  %0 = tg.linear {
    // expected-error@below {{axis 0 of argument 1 of @dynamic is not known to have the extent that the program asks for: it is 4}}
    %1 = tg.call @dynamic(%n, %x) : (!i, tensor<4xf32, #cpu>) -> !tg.void
  }
  func.return
}

// -----

#cpu = #tg.place<"CPU", global>
func.func @main(%x: tensor<16xf32, #cpu>, %k: tensor<index> {tg.min = 0 : index, tg.max = 13 : index}) {
  // expected-error@below {{a shrink that may leave its source on axis 0}}
  %1 = tg.shrink %x at [%k] to [4] : tensor<16xf32, #cpu> -> tensor<4xf32, #cpu>
  %0 = tg.linear {
    tg.sink
  }
  func.return
}

// -----

#cpu = #tg.place<"CPU", global>
func.func @main(%x: tensor<4x4xf32, #cpu>) {
  // expected-error@below {{a shrink that is not contiguous}}
  %1 = tg.shrink %x at [0, 1] to [4, 2] : tensor<4x4xf32, #cpu> -> tensor<4x2xf32, #cpu>
  %0 = tg.linear {
    tg.sink
  }
  func.return
}

// -----

#cpu = #tg.place<"CPU", global>
func.func @main(%x: tensor<4xf32, #cpu>, %k: tensor<index>) {
  // expected-error@below {{tg.index in a function: only programs access memory}}
  %1 = tg.index %x[%k] : (tensor<4xf32, #cpu>, tensor<index>) -> tensor<f32, #cpu>
  %0 = tg.linear {
    tg.sink
  }
  func.return
}
