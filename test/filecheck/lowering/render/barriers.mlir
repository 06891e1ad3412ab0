// RUN: tg-opt %s --verify-each=false -p tg-render --split-input-file --verify-diagnostics

tg.program @if {
  %0 = tg.linear {
    %n = tg.const 4 : tensor<index>
    %i = tg.range 0 local to %n : tensor<index>
    %g = tg.cmplt %i, %n : (tensor<index>, tensor<index>) -> tensor<i1>
    // expected-error@below {{a barrier is in an IF, whose gate may differ between the work items of a workgroup: not all of them may reach it}}
    %if = tg.if %g : tensor<i1>
    %b = tg.barrier
    %endif = tg.endif %if
    %e = tg.end %b over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// -----

tg.program @bound {
  %0 = tg.linear {
    %n = tg.const 4 : tensor<index>
    %i = tg.range 0 warp to %n : tensor<index>
    %m = tg.add %i, %n : tensor<index>
    // expected-error@below {{a barrier is in the loop of range 1, whose bound may differ between the work items of a workgroup: not all of them may reach it}}
    %k = tg.range 1 loop to %m : tensor<index>
    %b = tg.barrier
    %e = tg.end %b over %k, %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// -----

tg.program @many {
  %0 = tg.linear {
    %p = tg.param 0 : tensor<f32, #tg.place<global>>
    %n = tg.param 1 "n" min 0 max 1000000000 : tensor<index>
    %i = tg.range 0 local to %n : tensor<index>
    // expected-error@below {{this lives across a barrier, and needs a cell for each iteration of range 0, of which there may be 1000000000, more than 1048576}}
    %v = tg.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
    %b = tg.barrier
    %s = tg.store %p, %v : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %i : !tg.void
    tg.sink %e : !tg.void
  }
}
