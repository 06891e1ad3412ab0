// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// The old style: a buffer and a VIEW, and a STORE to wait for.
func.func @view(%m: tensor<24xf32, #tg.place<"CPU", global>>, %x: tensor<4x6xf32>) {
  %v = tg_legacy.view [#tg_legacy.view<[4, 6], strides = [1, 4]>] : !tg.void
  // CHECK: %0 = tg_legacy.load %m at %v : tensor<24xf32, #tg.place<"CPU", global>> at !tg.void -> tensor<4x6xf32, #tg.place<"CPU">>
  // GENERIC: %0 = "tg_legacy.load"(%m, %v) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}> : (tensor<24xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4x6xf32, #tg.place<"CPU">>
  %0 = tg_legacy.load %m at %v : tensor<24xf32, #tg.place<"CPU", global>> at !tg.void -> tensor<4x6xf32, #tg.place<"CPU">>
  %s = tg_legacy.store %m at %v value %x : tensor<24xf32, #tg.place<"CPU", global>> at !tg.void value tensor<4x6xf32>
  // CHECK: %1 = tg_legacy.load %m at %v after %s : tensor<24xf32, #tg.place<"CPU", global>> at !tg.void after !tg.void -> tensor<4x6xf32, #tg.place<"CPU">>
  // GENERIC: %1 = "tg_legacy.load"(%m, %v, %s) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}> : (tensor<24xf32, #tg.place<"CPU", global>>, !tg.void, !tg.void) -> tensor<4x6xf32, #tg.place<"CPU">>
  %1 = tg_legacy.load %m at %v after %s : tensor<24xf32, #tg.place<"CPU", global>> at !tg.void after !tg.void -> tensor<4x6xf32, #tg.place<"CPU">>
  func.return
}

// Listings: a buffer and a position, which is that of the first element of a vector.
func.func @position(%m: tensor<?xf32, #tg.place<global>>, %i: tensor<i32>, %k: tensor<4xi32>, %g: tensor<i1>, %w: tensor<4xi1>, %a: tensor<f32>, %b: tensor<4xf32>) {
  // CHECK: %0 = tg_legacy.load %m at %i : tensor<?xf32, #tg.place<global>> at tensor<i32> -> tensor<f32>
  // GENERIC: %0 = "tg_legacy.load"(%m, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32>
  %0 = tg_legacy.load %m at %i : tensor<?xf32, #tg.place<global>> at tensor<i32> -> tensor<f32>
  // CHECK: %1 = tg_legacy.load %m at %i : tensor<?xf32, #tg.place<global>> at tensor<i32> -> tensor<4xf32>
  // GENERIC: %1 = "tg_legacy.load"(%m, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<i32>) -> tensor<4xf32>
  %1 = tg_legacy.load %m at %i : tensor<?xf32, #tg.place<global>> at tensor<i32> -> tensor<4xf32>
  // CHECK: %2 = tg_legacy.load %m at %k : tensor<?xf32, #tg.place<global>> at tensor<4xi32> -> tensor<4xf32>
  // GENERIC: %2 = "tg_legacy.load"(%m, %k) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<4xi32>) -> tensor<4xf32>
  %2 = tg_legacy.load %m at %k : tensor<?xf32, #tg.place<global>> at tensor<4xi32> -> tensor<4xf32>
  // CHECK: %3 = tg_legacy.load %m at %i alt %a gate %g : tensor<?xf32, #tg.place<global>> at tensor<i32> alt tensor<f32> gate tensor<i1> -> tensor<f32>
  // GENERIC: %3 = "tg_legacy.load"(%m, %i, %a, %g) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<i32>, tensor<f32>, tensor<i1>) -> tensor<f32>
  %3 = tg_legacy.load %m at %i alt %a gate %g : tensor<?xf32, #tg.place<global>> at tensor<i32> alt tensor<f32> gate tensor<i1> -> tensor<f32>
  // CHECK: %4 = tg_legacy.load %m at %k alt %b gate %w : tensor<?xf32, #tg.place<global>> at tensor<4xi32> alt tensor<4xf32> gate tensor<4xi1> -> tensor<4xf32>
  // GENERIC: %4 = "tg_legacy.load"(%m, %k, %b, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<4xi32>, tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  %4 = tg_legacy.load %m at %k alt %b gate %w : tensor<?xf32, #tg.place<global>> at tensor<4xi32> alt tensor<4xf32> gate tensor<4xi1> -> tensor<4xf32>
  // CHECK: %5 = tg_legacy.load %m at %i gate %g : tensor<?xf32, #tg.place<global>> at tensor<i32> gate tensor<i1> -> tensor<f32>
  // GENERIC: %5 = "tg_legacy.load"(%m, %i, %g) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}> : (tensor<?xf32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<f32>
  %5 = tg_legacy.load %m at %i gate %g : tensor<?xf32, #tg.place<global>> at tensor<i32> gate tensor<i1> -> tensor<f32>
  func.return
}

func.func @barrier(%m: tensor<16xf32, #tg.place<local>>, %i: tensor<i32>, %g: tensor<i1>, %a: tensor<f32>) {
  %l = tg.linear {
    %s = tg_legacy.store %m at %i value %a : tensor<16xf32, #tg.place<local>> at tensor<i32> value tensor<f32>
    %b = tg.barrier %s : !tg.void
    // CHECK: %0 = tg_legacy.load %m at %i after %b : tensor<16xf32, #tg.place<local>> at tensor<i32> after !tg.void -> tensor<f32>
    // GENERIC: %0 = "tg_legacy.load"(%m, %i, %b) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}> : (tensor<16xf32, #tg.place<local>>, tensor<i32>, !tg.void) -> tensor<f32>
    %0 = tg_legacy.load %m at %i after %b : tensor<16xf32, #tg.place<local>> at tensor<i32> after !tg.void -> tensor<f32>
    // CHECK: %1 = tg_legacy.load %m at %i alt %a gate %g after %b : tensor<16xf32, #tg.place<local>> at tensor<i32> alt tensor<f32> gate tensor<i1> after !tg.void -> tensor<f32>
    // GENERIC: %1 = "tg_legacy.load"(%m, %i, %a, %g, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<16xf32, #tg.place<local>>, tensor<i32>, tensor<f32>, tensor<i1>, !tg.void) -> tensor<f32>
    %1 = tg_legacy.load %m at %i alt %a gate %g after %b : tensor<16xf32, #tg.place<local>> at tensor<i32> alt tensor<f32> gate tensor<i1> after !tg.void -> tensor<f32>
  }
  func.return
}

// The new style: a location.
func.func @location(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %v: tensor<i1>, %a: tensor<f32>, %b: tensor<4xf32>) {
  %p = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // CHECK: %0 = tg_legacy.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
  // GENERIC: %0 = "tg_legacy.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> : (tensor<f32, #tg.place<global>>) -> tensor<f32>
  %0 = tg_legacy.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
  // CHECK: %1 = tg_legacy.load %p alt %a gate %v : tensor<f32, #tg.place<global>> alt tensor<f32> gate tensor<i1> -> tensor<f32>
  // GENERIC: %1 = "tg_legacy.load"(%p, %a, %v) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0>}> : (tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>) -> tensor<f32>
  %1 = tg_legacy.load %p alt %a gate %v : tensor<f32, #tg.place<global>> alt tensor<f32> gate tensor<i1> -> tensor<f32>
  %q = tg_legacy.index %m, %i valid %v : (tensor<24xf32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<f32, #tg.place<global>>
  // CHECK: %2 = tg_legacy.load %q alt %a : tensor<f32, #tg.place<global>> alt tensor<f32> -> tensor<f32>
  // GENERIC: %2 = "tg_legacy.load"(%q, %a) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> : (tensor<f32, #tg.place<global>>, tensor<f32>) -> tensor<f32>
  %2 = tg_legacy.load %q alt %a : tensor<f32, #tg.place<global>> alt tensor<f32> -> tensor<f32>
  %w = tg_legacy.cast %q : tensor<f32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>
  // CHECK: %3 = tg_legacy.load %w alt %b : tensor<4xf32, #tg.place<global>> alt tensor<4xf32> -> tensor<4xf32>
  // GENERIC: %3 = "tg_legacy.load"(%w, %b) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> : (tensor<4xf32, #tg.place<global>>, tensor<4xf32>) -> tensor<4xf32>
  %3 = tg_legacy.load %w alt %b : tensor<4xf32, #tg.place<global>> alt tensor<4xf32> -> tensor<4xf32>
  func.return
}
