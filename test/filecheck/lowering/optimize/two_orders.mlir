// RUN: tg-opt %s -p tg-optimize --verify-diagnostics

// The second loop has to wait for the first one, whose STORE comes after what the second one reads.

#g = #tg.place<global>
!m = tensor<4xi32, #tg.place<"CPU", global>>
!p = tensor<4xi32, #g>
!s = tensor<i32, #g>
tg.kernel @k {
  %a = tg.param 0 : !p
  %c4 = tg.const 4 : tensor<index>
  %one = tg.const 1 : tensor<i32>
  %zero = tg.const 0 : tensor<index>
  %first = tg.index %a[%zero] : (!p, tensor<index>) -> !s
  %w = tg.store %first, %one : !s, tensor<i32>
  %p = tg.after %a, %w : (!p, !tg.void) -> !p
  %i = tg.range 0 loop to %c4 : tensor<index>
  %ai = tg.index %p[%i] : (!p, tensor<index>) -> !s
  // expected-error@below {{cycle: the loops and the versions of memory of this kernel ask for two orders at once}}
  %st = tg.store %ai, %one : !s, tensor<i32>
  %e = tg.end %st over %i : !tg.void
  %q = tg.after %a, %w, %e : (!p, !tg.void, !tg.void) -> !p
  %j = tg.range 1 loop to %c4 : tensor<index>
  %pj = tg.index %p[%j] : (!p, tensor<index>) -> !s
  %old = tg.load %pj : !s -> tensor<i32>
  %qj = tg.index %q[%j] : (!p, tensor<index>) -> !s
  %su = tg.store %qj, %old : !s, tensor<i32>
  %f = tg.end %su over %j : !tg.void
  tg.sink %w, %e, %f : !tg.void, !tg.void, !tg.void
}
func.func @main(%a: !m) {
  %c = tg.call @k(%a) : (!m) -> !tg.void
  %s = tg.sink %c : !tg.void
  func.return
}
