// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

tg.kernel @k {
  %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
  %zero = tg.const 0 : tensor<i32>
  %four = tg.const 4 : tensor<i32>
  %two = tg.const 2 : tensor<i32>
  %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
  %start = tg_legacy.blockstart %i : tensor<i32>
  %c = tg.cmplt %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %if = tg_legacy.if %c : tensor<i1>
  %then = tg_legacy.blockstart %if : !tg.void
  %s = tg_legacy.store %0 at %i value %i : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  %body = tg_legacy.block %s after %start, %then : !tg.void
  // CHECK: %endif = tg_legacy.blockend %if after %body : !tg.void
  // GENERIC: %endif = "tg_legacy.blockend"(%if, %body) : (!tg.void, !tg.void) -> !tg.void
  %endif = tg_legacy.blockend %if after %body : !tg.void
  // CHECK: %end = tg_legacy.blockend %i after %endif : tensor<i32>
  // GENERIC: %end = "tg_legacy.blockend"(%i, %endif) : (tensor<i32>, !tg.void) -> !tg.void
  %end = tg_legacy.blockend %i after %endif : tensor<i32>
  %r = tg.sink %end : !tg.void
}
