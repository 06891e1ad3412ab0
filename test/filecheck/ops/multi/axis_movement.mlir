// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// The sharding axis of views. A replicated value has none.

func.func @permute(%x: tensor<4x6x8xf32, #tg.place<["A", "B"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %first = tg.permute %x [1, 0, 2] : tensor<4x6x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<6x4x8xf32, #tg.place<["A", "B"], axis = 0>>
  %first = tg.permute %x [1, 0, 2] : tensor<4x6x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<6x4x8xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %last = tg.permute %x [2, 0, 1] : tensor<4x6x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<8x4x6xf32, #tg.place<["A", "B"], axis = 2>>
  %last = tg.permute %x [2, 0, 1] : tensor<4x6x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<8x4x6xf32, #tg.place<["A", "B"], axis = 2>>
  // CHECK: %kept = tg.permute %x [2, 1, 0] : tensor<4x6x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<8x6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %kept = tg.permute %x [2, 1, 0] : tensor<4x6x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<8x6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %memory = tg.permute %m [1, 0] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<6x4xf32, #tg.place<["A", "B"], global, axis = 1>>
  %memory = tg.permute %m [1, 0] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<6x4xf32, #tg.place<["A", "B"], global, axis = 1>>
  // CHECK: %replicated = tg.permute %r [1, 0] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<6x4xf32, #tg.place<["A", "B"]>>
  %replicated = tg.permute %r [1, 0] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<6x4xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @flip(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %a = tg.flip %x [true, false] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %a = tg.flip %x [true, false] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %memory = tg.flip %m [false, true] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>
  %memory = tg.flip %m [false, true] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %replicated = tg.flip %r [true, true] : tensor<4x6xf32, #tg.place<["A", "B"]>>
  %replicated = tg.flip %r [true, true] : tensor<4x6xf32, #tg.place<["A", "B"]>>
  func.return
}

// The shards are equal parts of the new axis, too, and as many elements come before it.

func.func @reshape(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %z: tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %kept = tg.reshape %x [4, 2, 3] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x2x3xf32, #tg.place<["A", "B"], axis = 0>>
  %kept = tg.reshape %x [4, 2, 3] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x2x3xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %split = tg.reshape %x [2, 2, 6] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x6xf32, #tg.place<["A", "B"], axis = 0>>
  %split = tg.reshape %x [2, 2, 6] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %split_second = tg.reshape %y [4, 2, 3] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x2x3xf32, #tg.place<["A", "B"], axis = 1>>
  %split_second = tg.reshape %y [4, 2, 3] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x2x3xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %merged = tg.reshape %x [24] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<24xf32, #tg.place<["A", "B"], axis = 0>>
  %merged = tg.reshape %x [24] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<24xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %merged_after = tg.reshape %z [2, 24] : tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x24xf32, #tg.place<["A", "B"], axis = 1>>
  %merged_after = tg.reshape %z [2, 24] : tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x24xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %split_before = tg.reshape %y [2, 2, 6] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x2x6xf32, #tg.place<["A", "B"], axis = 2>>
  %split_before = tg.reshape %y [2, 2, 6] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x2x6xf32, #tg.place<["A", "B"], axis = 2>>
  // CHECK: %merged_before = tg.reshape %split_before [4, 6] : tensor<2x2x6xf32, #tg.place<["A", "B"], axis = 2>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %merged_before = tg.reshape %split_before [4, 6] : tensor<2x2x6xf32, #tg.place<["A", "B"], axis = 2>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %regrouped = tg.reshape %x [6, 4] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 0>>
  %regrouped = tg.reshape %x [6, 4] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %ones_before = tg.reshape %x [1, 1, 4, 6] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x1x4x6xf32, #tg.place<["A", "B"], axis = 2>>
  %ones_before = tg.reshape %x [1, 1, 4, 6] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x1x4x6xf32, #tg.place<["A", "B"], axis = 2>>
  // CHECK: %ones_dropped = tg.reshape %ones_before [4, 6] : tensor<1x1x4x6xf32, #tg.place<["A", "B"], axis = 2>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %ones_dropped = tg.reshape %ones_before [4, 6] : tensor<1x1x4x6xf32, #tg.place<["A", "B"], axis = 2>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %one_after = tg.reshape %y [4, 6, 1] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6x1xf32, #tg.place<["A", "B"], axis = 1>>
  %one_after = tg.reshape %y [4, 6, 1] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6x1xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %memory = tg.reshape %m [2, 12] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<2x12xf32, #tg.place<["A", "B"], global, axis = 0>>
  %memory = tg.reshape %m [2, 12] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<2x12xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %replicated = tg.reshape %r [3, 8] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<3x8xf32, #tg.place<["A", "B"]>>
  %replicated = tg.reshape %r [3, 8] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<3x8xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @reshape_on_more(%x: tensor<9xf32, #tg.place<["A", "B", "C"], axis = 0>>, %y: tensor<2x12xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>) {
  // CHECK: %split = tg.reshape %x [3, 3] : tensor<9xf32, #tg.place<["A", "B", "C"], axis = 0>> -> tensor<3x3xf32, #tg.place<["A", "B", "C"], axis = 0>>
  %split = tg.reshape %x [3, 3] : tensor<9xf32, #tg.place<["A", "B", "C"], axis = 0>> -> tensor<3x3xf32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %regrouped = tg.reshape %y [2, 4, 3] : tensor<2x12xf32, #tg.place<["A", "B", "C", "D"], axis = 1>> -> tensor<2x4x3xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>
  %regrouped = tg.reshape %y [2, 4, 3] : tensor<2x12xf32, #tg.place<["A", "B", "C", "D"], axis = 1>> -> tensor<2x4x3xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>
  // CHECK: %ones_before = tg.reshape %y [2, 1, 12] : tensor<2x12xf32, #tg.place<["A", "B", "C", "D"], axis = 1>> -> tensor<2x1x12xf32, #tg.place<["A", "B", "C", "D"], axis = 2>>
  %ones_before = tg.reshape %y [2, 1, 12] : tensor<2x12xf32, #tg.place<["A", "B", "C", "D"], axis = 1>> -> tensor<2x1x12xf32, #tg.place<["A", "B", "C", "D"], axis = 2>>
  func.return
}

// Other axes may be dynamic.

func.func @dynamic(%n: tensor<index>, %m: tensor<index>, %x: tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>> {tg.dims = array<i64: 0>}, %y: tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %split = tg.reshape %x [2, 2, %n] : tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x?xf32, #tg.place<["A", "B"], axis = 0>>
  %split = tg.reshape %x [2, 2, %n] : tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x?xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %expanded = tg.expand %y [4, %n] : tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>>
  %expanded = tg.expand %y [4, %n] : tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %padded = tg.pad %y at [0, %n] to [4, %m] : tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>>
  %padded = tg.pad %y at [0, %n] to [4, %m] : tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %shrunk = tg.shrink %x at [0, 1] to [4, %m] : tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>>
  %shrunk = tg.shrink %x at [0, 1] to [4, %m] : tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x?xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

func.func @expand(%x: tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<1x6x1xf32, #tg.place<["A", "B", "C"], axis = 1>>, %m: tensor<4x1xf32, #tg.place<["A", "B"], global, axis = 0>>, %r: tensor<1x1xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %after = tg.expand %x [4, 6] : tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %after = tg.expand %x [4, 6] : tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %both_sides = tg.expand %y [2, 6, 5] : tensor<1x6x1xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<2x6x5xf32, #tg.place<["A", "B", "C"], axis = 1>>
  %both_sides = tg.expand %y [2, 6, 5] : tensor<1x6x1xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<2x6x5xf32, #tg.place<["A", "B", "C"], axis = 1>>
  // CHECK: %memory = tg.expand %m [4, 6] : tensor<4x1xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>
  %memory = tg.expand %m [4, 6] : tensor<4x1xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %replicated = tg.expand %r [4, 6] : tensor<1x1xf32, #tg.place<["A", "B"]>> -> tensor<4x6xf32, #tg.place<["A", "B"]>>
  %replicated = tg.expand %r [4, 6] : tensor<1x1xf32, #tg.place<["A", "B"]>> -> tensor<4x6xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @pad(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x6xf32, #tg.place<["A", "B", "C"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %a = tg.pad %x at [0, 1] to [4, 9] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x9xf32, #tg.place<["A", "B"], axis = 0>>
  %a = tg.pad %x at [0, 1] to [4, 9] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x9xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %filled = tg.pad %y at [2, 0] to [8, 6] fill 1.000000e+00 : f32 : tensor<4x6xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<8x6xf32, #tg.place<["A", "B", "C"], axis = 1>>
  %filled = tg.pad %y at [2, 0] to [8, 6] fill 1.000000e+00 : f32 : tensor<4x6xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<8x6xf32, #tg.place<["A", "B", "C"], axis = 1>>
  // CHECK: %memory = tg.pad %m at [0, 0] to [4, 7] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x7xf32, #tg.place<["A", "B"], global, axis = 0>>
  %memory = tg.pad %m at [0, 0] to [4, 7] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x7xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %replicated = tg.pad %r at [1, 1] to [7, 9] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<7x9xf32, #tg.place<["A", "B"]>>
  %replicated = tg.pad %r at [1, 1] to [7, 9] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<7x9xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @shrink(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x6xf32, #tg.place<["A", "B", "C"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %a = tg.shrink %x at [0, 1] to [4, 5] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x5xf32, #tg.place<["A", "B"], axis = 0>>
  %a = tg.shrink %x at [0, 1] to [4, 5] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x5xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %b = tg.shrink %y at [3, 0] to [1, 6] : tensor<4x6xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<1x6xf32, #tg.place<["A", "B", "C"], axis = 1>>
  %b = tg.shrink %y at [3, 0] to [1, 6] : tensor<4x6xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<1x6xf32, #tg.place<["A", "B", "C"], axis = 1>>
  // CHECK: %memory = tg.shrink %m at [0, 2] to [4, 3] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x3xf32, #tg.place<["A", "B"], global, axis = 0>>
  %memory = tg.shrink %m at [0, 2] to [4, 3] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x3xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %replicated = tg.shrink %r at [1, 1] to [3, 3] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<3x3xf32, #tg.place<["A", "B"]>>
  %replicated = tg.shrink %r at [1, 1] to [3, 3] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<3x3xf32, #tg.place<["A", "B"]>>
  func.return
}

// Indices are for axes before the sharding axis, and each device has all of them.

func.func @index(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %y: tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %anonymous: tensor<4x6xf32>, %i: tensor<index>, %k: tensor<3xindex>, %ir: tensor<index, #tg.place<["A", "B"]>>, %kr: tensor<3xindex, #tg.place<["A", "B"]>>, %ks: tensor<4xindex, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %scalar = tg.index %x[%i] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<index>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  %scalar = tg.index %x[%i] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<index>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %vector = tg.index %x[%k] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<3xindex>) -> tensor<3x6xf32, #tg.place<["A", "B"], axis = 1>>
  %vector = tg.index %x[%k] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<3xindex>) -> tensor<3x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.index %x[%kr] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<3xindex, #tg.place<["A", "B"]>>) -> tensor<3x6xf32, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.index %x[%kr] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<3xindex, #tg.place<["A", "B"]>>) -> tensor<3x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %one = tg.index %y[%i] : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, tensor<index>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %one = tg.index %y[%i] : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, tensor<index>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %two = tg.index %y[%i, %kr] : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, tensor<index>, tensor<3xindex, #tg.place<["A", "B"]>>) -> tensor<3x6xf32, #tg.place<["A", "B"], axis = 1>>
  %two = tg.index %y[%i, %kr] : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, tensor<index>, tensor<3xindex, #tg.place<["A", "B"]>>) -> tensor<3x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %scalars = tg.index %y[%ir, %i] : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, tensor<index, #tg.place<["A", "B"]>>, tensor<index>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  %scalars = tg.index %y[%ir, %i] : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, tensor<index, #tg.place<["A", "B"]>>, tensor<index>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %vectors = tg.index %y[%k, %k] : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, tensor<3xindex>, tensor<3xindex>) -> tensor<3x3x6xf32, #tg.place<["A", "B"], axis = 2>>
  %vectors = tg.index %y[%k, %k] : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 2>>, tensor<3xindex>, tensor<3xindex>) -> tensor<3x3x6xf32, #tg.place<["A", "B"], axis = 2>>
  // CHECK: %location = tg.index %m[%i] : (tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>>, tensor<index>) -> tensor<6xf32, #tg.place<["A", "B"], global, axis = 0>>
  %location = tg.index %m[%i] : (tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>>, tensor<index>) -> tensor<6xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %whole = tg.index %r[%i, %k] : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<index>, tensor<3xindex>) -> tensor<3xf32, #tg.place<["A", "B"]>>
  %whole = tg.index %r[%i, %k] : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<index>, tensor<3xindex>) -> tensor<3xf32, #tg.place<["A", "B"]>>
  // CHECK: %moved = tg.index %anonymous[%kr] : (tensor<4x6xf32>, tensor<3xindex, #tg.place<["A", "B"]>>) -> tensor<3x6xf32, #tg.place<["A", "B"]>>
  %moved = tg.index %anonymous[%kr] : (tensor<4x6xf32>, tensor<3xindex, #tg.place<["A", "B"]>>) -> tensor<3x6xf32, #tg.place<["A", "B"]>>
  // CHECK: %rows = tg.index %r[%ks] : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4xindex, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %rows = tg.index %r[%ks] : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4xindex, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %cells = tg.index %r[%k, %ks] : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<3xindex>, tensor<4xindex, #tg.place<["A", "B"], axis = 0>>) -> tensor<3x4xf32, #tg.place<["A", "B"], axis = 1>>
  %cells = tg.index %r[%k, %ks] : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<3xindex>, tensor<4xindex, #tg.place<["A", "B"], axis = 0>>) -> tensor<3x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @stack(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %anonymous: tensor<4x6xf32>) {
  // CHECK: %first = tg.stack %x, %x : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %first = tg.stack %x, %x : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %second = tg.stack %y : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<1x4x6xf32, #tg.place<["A", "B"], axis = 2>>
  %second = tg.stack %y : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<1x4x6xf32, #tg.place<["A", "B"], axis = 2>>
  // CHECK: %mixed = tg.stack %r, %x, %anonymous : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xf32>) -> tensor<3x4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %mixed = tg.stack %r, %x, %anonymous : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xf32>) -> tensor<3x4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %memory = tg.stack %m, %x : (tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %memory = tg.stack %m, %x : (tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.stack %r, %anonymous : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32>) -> tensor<2x4x6xf32, #tg.place<["A", "B"]>>
  %replicated = tg.stack %r, %anonymous : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32>) -> tensor<2x4x6xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @bitcast(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.bitcast %x to i32 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xi32, #tg.place<["A", "B"], axis = 0>>
  %same = tg.bitcast %x to i32 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xi32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %smaller = tg.bitcast %x to ui8 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x24xui8, #tg.place<["A", "B"], axis = 0>>
  %smaller = tg.bitcast %x to ui8 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x24xui8, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %larger = tg.bitcast %x to f64 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x3xf64, #tg.place<["A", "B"], axis = 0>>
  %larger = tg.bitcast %x to f64 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x3xf64, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %memory = tg.bitcast %m to i16 : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x12xi16, #tg.place<["A", "B"], global, axis = 0>>
  %memory = tg.bitcast %m to i16 : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x12xi16, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %replicated = tg.bitcast %r to f64 : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<4x3xf64, #tg.place<["A", "B"]>>
  %replicated = tg.bitcast %r to f64 : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<4x3xf64, #tg.place<["A", "B"]>>
  func.return
}

// On the last axis, each shard is a whole number of new elements.

func.func @bitcast_last_axis(%x: tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>>, %y: tensor<12xi8, #tg.place<["A", "B", "C"], axis = 0>>, %z: tensor<8xf32, #tg.place<["A", "B", "C", "D"], axis = 0>>) {
  // CHECK: %same = tg.bitcast %x to i32 : tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x8xi32, #tg.place<["A", "B"], axis = 1>>
  %same = tg.bitcast %x to i32 : tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x8xi32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %smaller = tg.bitcast %x to f16 : tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x16xf16, #tg.place<["A", "B"], axis = 1>>
  %smaller = tg.bitcast %x to f16 : tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x16xf16, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %larger = tg.bitcast %x to f64 : tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf64, #tg.place<["A", "B"], axis = 1>>
  %larger = tg.bitcast %x to f64 : tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf64, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %one_each = tg.bitcast %y to i32 : tensor<12xi8, #tg.place<["A", "B", "C"], axis = 0>> -> tensor<3xi32, #tg.place<["A", "B", "C"], axis = 0>>
  %one_each = tg.bitcast %y to i32 : tensor<12xi8, #tg.place<["A", "B", "C"], axis = 0>> -> tensor<3xi32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %pair_each = tg.bitcast %z to ui64 : tensor<8xf32, #tg.place<["A", "B", "C", "D"], axis = 0>> -> tensor<4xui64, #tg.place<["A", "B", "C", "D"], axis = 0>>
  %pair_each = tg.bitcast %z to ui64 : tensor<8xf32, #tg.place<["A", "B", "C", "D"], axis = 0>> -> tensor<4xui64, #tg.place<["A", "B", "C", "D"], axis = 0>>
  func.return
}

// What follows the sharding axis is static, so the axis is found although a dynamic one comes before it.
// CHECK:   func.func @reshape_dynamic() -> (tensor<1x?x4x3xf32, #tg.place<["A", "B"], axis = 2>>, tensor<?x4x3x1xf32, #tg.place<["A", "B"], axis = 1>>) {
func.func @reshape_dynamic() -> (tensor<1x?x4x3xf32, #tg.place<["A", "B"], axis = 2>>, tensor<?x4x3x1xf32, #tg.place<["A", "B"], axis = 1>>) {
  %n = tg.param 0 min 1 max 9 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?x4x3xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK:     %0 = tg.reshape %x [1, %n, 4, 3] : tensor<?x4x3xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<1x?x4x3xf32, #tg.place<["A", "B"], axis = 2>>
  %0 = tg.reshape %x [1, %n, 4, 3] : tensor<?x4x3xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<1x?x4x3xf32, #tg.place<["A", "B"], axis = 2>>
  // CHECK-NEXT:     %1 = tg.reshape %x [%n, 4, 3, 1] : tensor<?x4x3xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<?x4x3x1xf32, #tg.place<["A", "B"], axis = 1>>
  %1 = tg.reshape %x [%n, 4, 3, 1] : tensor<?x4x3xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<?x4x3x1xf32, #tg.place<["A", "B"], axis = 1>>
  func.return %0, %1 : tensor<1x?x4x3xf32, #tg.place<["A", "B"], axis = 2>>, tensor<?x4x3x1xf32, #tg.place<["A", "B"], axis = 1>>
}
