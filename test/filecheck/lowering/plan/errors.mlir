// RUN: tg-opt %s -p tg-plan --verify-diagnostics --split-input-file

// On a grid an arena is as large as for the greatest extents.

builtin.module attributes {tg.target = #tg.target<"opencl">} {
  tg.program @use {
    tg.linear {
      %n = tg.param 1 : tensor<index>
      %a = tg.param 0 (%n) : tensor<?xf32, #tg.place<global>>
      %c0 = tg.const 0 : tensor<index>
      %v = tg.const 0.0 : tensor<f32>
      %l = tg.index %a[%c0] : (tensor<?xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
      %s = tg.store %l, %v : tensor<f32, #tg.place<global>>, tensor<f32>
      tg.sink %s : !tg.void
    }
  }
  func.func @dynamic(%n: tensor<index> {tg.min = 1 : index}) {
    // expected-error@below {{no bound is known for the size of tensor<?xf32, #tg.place<"CPU", global>>: its dynamic dimensions need a {tg.max}}}
    %a = tg.buffer 0 (%n) : tensor<?xf32, #tg.place<"CPU", global>>
    tg.linear {
      tg.call @use(%a, %n) : (tensor<?xf32, #tg.place<"CPU", global>>, tensor<index>) -> !tg.void
    }
    func.return
  }
}

// -----

// So it is where a size is a product of too many extents.

tg.program @use {
  tg.linear {
    %n = tg.param 1 : tensor<index>
    %a = tg.param 0 (%n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n) : tensor<?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?xf32, #tg.place<global>>
    tg.sink %a : tensor<?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?xf32, #tg.place<global>>
  }
}
func.func @many(%n: tensor<index> {tg.min = 1 : index}) {
  // expected-error@below {{its dynamic dimensions need a {tg.max}}}
  %a = tg.buffer 0 (%n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n) : tensor<?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?xf32, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @use(%a, %n) : (tensor<?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?xf32, #tg.place<"CPU", global>>, tensor<index>) -> !tg.void
  }
  func.return
}
