// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

tg.kernel @k {
  %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
  %zero = tg.const 0 : tensor<i32>
  %four = tg.const 4 : tensor<i32>
  // CHECK: %first = tg_legacy.block %zero, %four : tensor<i32>, tensor<i32>
  // GENERIC: %first = "tg_legacy.block"(%zero, %four) <{operandSegmentSizes = array<i32: 2, 0>}> : (tensor<i32>, tensor<i32>) -> !tg.void
  %first = tg_legacy.block %zero, %four : tensor<i32>, tensor<i32>
  %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
  %start = tg_legacy.blockstart %i : tensor<i32>
  %s = tg_legacy.store %0 at %i value %i : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  // CHECK: %body = tg_legacy.block %s after %first, %start : !tg.void
  // GENERIC: %body = "tg_legacy.block"(%s, %first, %start) <{operandSegmentSizes = array<i32: 1, 2>}> : (!tg.void, !tg.void, !tg.void) -> !tg.void
  %body = tg_legacy.block %s after %first, %start : !tg.void
  %end = tg_legacy.blockend %i after %body : tensor<i32>
  // CHECK: %last = tg_legacy.block after %end
  // GENERIC: %last = "tg_legacy.block"(%end) <{operandSegmentSizes = array<i32: 0, 1>}> : (!tg.void) -> !tg.void
  %last = tg_legacy.block after %end
  %r = tg.sink %last : !tg.void
}
// CHECK: %alone = tg_legacy.block
// GENERIC: %alone = "tg_legacy.block"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> !tg.void
%alone = tg_legacy.block
