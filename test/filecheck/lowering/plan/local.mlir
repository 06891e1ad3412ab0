// RUN: tg-opt %s -p tg-plan | filecheck %s

// Threads of a workgroup share LOCAL memory: between two lives of a buffer they have to meet.

// CHECK-LABEL: tg.program @barrier
// CHECK:         tg.buffer 0
// CHECK-NOT:     tg.buffer 1
tg.program @barrier {
  tg.linear {
    %v = tg.const 0.0 : tensor<f32>
    %c4 = tg.const 4 : tensor<index>
    %a = tg.buffer 0 : tensor<f32, #tg.place<local>>
    %b = tg.buffer 1 : tensor<f32, #tg.place<local>>
    %i = tg.range 0 local to %c4 : tensor<index>
    %s0 = tg.store %a, %v : tensor<f32, #tg.place<local>>, tensor<f32>
    %av = tg.load %a : tensor<f32, #tg.place<local>> -> tensor<f32>
    %w = tg.barrier %s0 : !tg.void
    %s1 = tg.store %b, %av : tensor<f32, #tg.place<local>>, tensor<f32>
    %e = tg.end %s1 over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// CHECK-LABEL: tg.program @no_barrier
// CHECK:         tg.buffer 0
// CHECK-NEXT:    tg.buffer 1
tg.program @no_barrier {
  tg.linear {
    %v = tg.const 0.0 : tensor<f32>
    %c4 = tg.const 4 : tensor<index>
    %a = tg.buffer 0 : tensor<f32, #tg.place<local>>
    %b = tg.buffer 1 : tensor<f32, #tg.place<local>>
    %i = tg.range 0 local to %c4 : tensor<index>
    %s0 = tg.store %a, %v : tensor<f32, #tg.place<local>>, tensor<f32>
    %av = tg.load %a : tensor<f32, #tg.place<local>> -> tensor<f32>
    %s1 = tg.store %b, %av : tensor<f32, #tg.place<local>>, tensor<f32>
    %e = tg.end %s1 over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// One thread needs none.
// CHECK-LABEL: tg.program @one_thread
// CHECK:         tg.buffer 0
// CHECK-NOT:     tg.buffer 1
tg.program @one_thread {
  tg.linear {
    %v = tg.const 0.0 : tensor<f32>
    %a = tg.buffer 0 : tensor<f32, #tg.place<local>>
    %b = tg.buffer 1 : tensor<f32, #tg.place<local>>
    %s0 = tg.store %a, %v : tensor<f32, #tg.place<local>>, tensor<f32>
    %av = tg.load %a : tensor<f32, #tg.place<local>> -> tensor<f32>
    %s1 = tg.store %b, %av : tensor<f32, #tg.place<local>>, tensor<f32>
    tg.sink %s1 : !tg.void
  }
}
