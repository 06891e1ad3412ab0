// Functions that call kernels run at every level, a graph and a LINEAR alike.

// RUN: tg-run %s --target=interpreter --input 1,2,3,4 | filecheck %s
// RUN: tg-run %s --target=interpreter --scalar --input 1,2,3,4 | filecheck %s
// CHECK: dense<[-2.0, -4.0, -8.0, -16.0]> : tensor<4xf32>

!parameter = tensor<4xf32, #tg.place<global>>
!cell = tensor<f32, #tg.place<global>>
!buffer = tensor<4xf32, #tg.place<"CPU", global>>

tg.kernel @power {
  %o = tg.param 0 : !parameter
  %x = tg.param 1 : !parameter
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %p = tg.index %x[%i] : (!parameter, tensor<index>) -> !cell
  %v = tg.load %p : !cell -> tensor<f32>
  %e = tg.exp2 %v : tensor<f32>
  %q = tg.index %o[%i] : (!parameter, tensor<index>) -> !cell
  %s = tg.store %q, %e : !cell, tensor<f32>
  %d = tg.end %s over %i : !tg.void
  %k = tg.sink %d : !tg.void
}

tg.program @negate {
  %l = tg.linear {
    %o = tg.param 0 : !parameter
    %x = tg.param 1 : !parameter
    %n = tg.const 4 : tensor<index>
    %i = tg.range 0 loop to %n : tensor<index>
    %p = tg.index %x[%i] : (!parameter, tensor<index>) -> !cell
    %v = tg.load %p : !cell -> tensor<f32>
    %e = tg.neg %v : tensor<f32>
    %q = tg.index %o[%i] : (!parameter, tensor<index>) -> !cell
    %s = tg.store %q, %e : !cell, tensor<f32>
    %d = tg.end %s over %i : !tg.void
  }
}

func.func @main(%x: !buffer, %r: !buffer {tg.output}) {
  %t = tg.buffer 0 : !buffer
  %c = tg.call @power(%t, %x) : (!buffer, !buffer) -> !tg.void
  %u = tg.after %t, %c : (!buffer, !tg.void) -> !buffer
  %d = tg.call @negate(%r, %u) : (!buffer, !buffer) -> !tg.void
  %k = tg.sink %d : !tg.void
  return
}
