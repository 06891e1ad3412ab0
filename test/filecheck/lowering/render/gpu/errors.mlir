// RUN: tg-opt %s --verify-each=false -p 'tg-render{target="nvidia:sm_90"}' --split-input-file --verify-diagnostics

tg.program @special {
  tg.linear {
    %c4 = tg.const 4 : tensor<index>
    // expected-error@below {{tg.special of idx0: a grid has gidx and lidx}}
    %i = tg.special "idx0" to %c4 : tensor<index>
    tg.sink
  }
}

// -----

tg.program @too_much {
  tg.linear {
    // expected-error@below {{the buffers of this program take 262144 bytes or more; the target nvidia:sm_90 has 232448 for them}}
    %b = tg.buffer 0 : tensor<65536xf32, #tg.place<local>>
    tg.sink
  }
}
