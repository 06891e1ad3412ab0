// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @view(%m: tensor<24xf32, #tg.place<"CPU", global>>, %x: tensor<4x6xf32>) {
  %v = tg_legacy.view [#tg_legacy.view<[4, 6], strides = [1, 4]>] : !tg.void
  // CHECK: %0 = tg_legacy.store %m at %v value %x : tensor<24xf32, #tg.place<"CPU", global>> at !tg.void value tensor<4x6xf32>
  // GENERIC: %0 = "tg_legacy.store"(%m, %v, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<24xf32, #tg.place<"CPU", global>>, !tg.void, tensor<4x6xf32>) -> !tg.void
  %0 = tg_legacy.store %m at %v value %x : tensor<24xf32, #tg.place<"CPU", global>> at !tg.void value tensor<4x6xf32>
  %w = tg_legacy.view %m [#tg_legacy.view<[4, 6]>] : tensor<24xf32, #tg.place<"CPU", global>> -> tensor<4x6xf32, #tg.place<"CPU", global>>
  // CHECK: %1 = tg_legacy.store %w value %x : tensor<4x6xf32, #tg.place<"CPU", global>> value tensor<4x6xf32>
  // GENERIC: %1 = "tg_legacy.store"(%w, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> : (tensor<4x6xf32, #tg.place<"CPU", global>>, tensor<4x6xf32>) -> !tg.void
  %1 = tg_legacy.store %w value %x : tensor<4x6xf32, #tg.place<"CPU", global>> value tensor<4x6xf32>
  func.return
}

func.func @position(%m: tensor<?xf32, #tg.place<global>>, %i: tensor<i32>, %k: tensor<4xi32>, %g: tensor<i1>, %w: tensor<4xi1>, %x: tensor<f32>, %y: tensor<4xf32>) {
  // CHECK: %0 = tg_legacy.store %m at %i value %x : tensor<?xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
  // GENERIC: %0 = "tg_legacy.store"(%m, %i, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<i32>, tensor<f32>) -> !tg.void
  %0 = tg_legacy.store %m at %i value %x : tensor<?xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
  // CHECK: %1 = tg_legacy.store %m at %i value %y : tensor<?xf32, #tg.place<global>> at tensor<i32> value tensor<4xf32>
  // GENERIC: %1 = "tg_legacy.store"(%m, %i, %y) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<i32>, tensor<4xf32>) -> !tg.void
  %1 = tg_legacy.store %m at %i value %y : tensor<?xf32, #tg.place<global>> at tensor<i32> value tensor<4xf32>
  // CHECK: %2 = tg_legacy.store %m at %k value %y gate %w : tensor<?xf32, #tg.place<global>> at tensor<4xi32> value tensor<4xf32> gate tensor<4xi1>
  // GENERIC: %2 = "tg_legacy.store"(%m, %k, %y, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<4xi32>, tensor<4xf32>, tensor<4xi1>) -> !tg.void
  %2 = tg_legacy.store %m at %k value %y gate %w : tensor<?xf32, #tg.place<global>> at tensor<4xi32> value tensor<4xf32> gate tensor<4xi1>
  // CHECK: %3 = tg_legacy.store %m at %k value %y gate %g after %0, %1 : tensor<?xf32, #tg.place<global>> at tensor<4xi32> value tensor<4xf32> gate tensor<i1> after !tg.void, !tg.void
  // GENERIC: %3 = "tg_legacy.store"(%m, %k, %y, %g, %0, %1) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>}> : (tensor<?xf32, #tg.place<global>>, tensor<4xi32>, tensor<4xf32>, tensor<i1>, !tg.void, !tg.void) -> !tg.void
  %3 = tg_legacy.store %m at %k value %y gate %g after %0, %1 : tensor<?xf32, #tg.place<global>> at tensor<4xi32> value tensor<4xf32> gate tensor<i1> after !tg.void, !tg.void
  func.return
}

func.func @location(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %v: tensor<i1>, %x: tensor<f32>, %y: tensor<4xf32>) {
  %p = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // CHECK: %0 = tg_legacy.store %p value %x : tensor<f32, #tg.place<global>> value tensor<f32>
  // GENERIC: %0 = "tg_legacy.store"(%p, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> : (tensor<f32, #tg.place<global>>, tensor<f32>) -> !tg.void
  %0 = tg_legacy.store %p value %x : tensor<f32, #tg.place<global>> value tensor<f32>
  // CHECK: %1 = tg_legacy.store %p value %x gate %v : tensor<f32, #tg.place<global>> value tensor<f32> gate tensor<i1>
  // GENERIC: %1 = "tg_legacy.store"(%p, %x, %v) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0>}> : (tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>) -> !tg.void
  %1 = tg_legacy.store %p value %x gate %v : tensor<f32, #tg.place<global>> value tensor<f32> gate tensor<i1>
  %q = tg_legacy.index %m, %i valid %v : (tensor<24xf32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<f32, #tg.place<global>>
  %w = tg_legacy.cast %q : tensor<f32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>
  // CHECK: %2 = tg_legacy.store %w value %y : tensor<4xf32, #tg.place<global>> value tensor<4xf32>
  // GENERIC: %2 = "tg_legacy.store"(%w, %y) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> : (tensor<4xf32, #tg.place<global>>, tensor<4xf32>) -> !tg.void
  %2 = tg_legacy.store %w value %y : tensor<4xf32, #tg.place<global>> value tensor<4xf32>
  func.return
}
