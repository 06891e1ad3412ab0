// RUN: tg-opt %s --verify-each=false -p tg-plan --split-input-file | filecheck %s

// Every dtype is a view of bytes, at a multiple of 64: a bool is one. An empty buffer takes none.

tg.program @fill {
  tg.linear {
    %a = tg.param 0 : tensor<3xi1, #tg.place<global>>
    %b = tg.param 1 : tensor<3xui8, #tg.place<global>>
    %c = tg.param 2 : tensor<0x4xf64, #tg.place<global>>
    %t = tg.const true : tensor<i1>
    %o = tg.const 1 : tensor<ui8>
    %d = tg.const 1.0 : tensor<f64>
    %i = tg.const 0 : tensor<index>
    %al = tg.index %a[%i] : (tensor<3xi1, #tg.place<global>>, tensor<index>) -> tensor<i1, #tg.place<global>>
    %bl = tg.index %b[%i] : (tensor<3xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
    %cv = tg.reshape %c [0] : tensor<0x4xf64, #tg.place<global>> -> tensor<0xf64, #tg.place<global>>
    %cl = tg.index %cv[%i] : (tensor<0xf64, #tg.place<global>>, tensor<index>) -> tensor<f64, #tg.place<global>>
    %s0 = tg.store %al, %t : tensor<i1, #tg.place<global>>, tensor<i1>
    %s1 = tg.store %bl, %o : tensor<ui8, #tg.place<global>>, tensor<ui8>
    %s2 = tg.store %cl, %d : tensor<f64, #tg.place<global>>, tensor<f64>
    tg.sink %s0, %s1, %s2 : !tg.void, !tg.void, !tg.void
  }
}

// CHECK-LABEL: func.func @main
// CHECK-SAME:  %workspace: tensor<128xui8, #tg.place<"CPU", global>> {tg.workspace}
// CHECK-NEXT:    [[A:%.*]] = tg.shrink %workspace at [0] to [3]
// CHECK-NEXT:    %a = tg.bitcast [[A]] to i1 : {{.*}} -> tensor<3xi1, #tg.place<"CPU", global>>
// CHECK-NEXT:    %b = tg.shrink %workspace at [64] to [3] : {{.*}} -> tensor<3xui8, #tg.place<"CPU", global>>
// CHECK-NEXT:    tg.shrink %workspace at [0] to [0]
// CHECK:         %c = tg.reshape {{.*}} -> tensor<0x4xf64, #tg.place<"CPU", global>>
func.func @main() {
  %a = tg.buffer 0 : tensor<3xi1, #tg.place<"CPU", global>>
  %b = tg.buffer 1 : tensor<3xui8, #tg.place<"CPU", global>>
  %c = tg.buffer 2 : tensor<0x4xf64, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @fill(%a, %b, %c) : (tensor<3xi1, #tg.place<"CPU", global>>, tensor<3xui8, #tg.place<"CPU", global>>, tensor<0x4xf64, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}

// -----

// The arena of a dynamic buffer has room for what a call needs.

// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:  %size: tensor<index> {tg.computed = "64 %0 mul", tg.min = 64 : index, tg.max = 512 : index}, %workspace: tensor<?xui8, #tg.place<"CPU", global>> {tg.workspace, tg.dims = array<i64: 1>}
// CHECK-NEXT:    [[START:%.*]] = tg.const 0
// CHECK-NEXT:    [[FOUR:%.*]] = tg.const 4
// CHECK-NEXT:    [[ELEMENTS:%.*]] = tg.mul %n, [[FOUR]]
// CHECK-NEXT:    [[ITEM:%.*]] = tg.const 4
// CHECK-NEXT:    [[BYTES:%.*]] = tg.mul [[ELEMENTS]], [[ITEM]]
// CHECK-NEXT:    [[A:%.*]] = tg.shrink %workspace at [[[START]]] to [[[BYTES]]]
// CHECK-NEXT:    [[B:%.*]] = tg.reshape [[A]] [[[ELEMENTS]], 4]
// CHECK-NEXT:    [[F:%.*]] = tg.bitcast [[B]] to f32
// CHECK-NEXT:    %a = tg.reshape [[F]] [%n, 4]
// CHECK:         tg.linear {
// CHECK-NEXT:      tg.call @use(%a, %n)
tg.program @use {
  tg.linear {
    %n = tg.param 1 : tensor<index>
    %a = tg.param 0 (%n) : tensor<?x4xf32, #tg.place<global>>
    %f = tg.reshape %a [1, %n, 4] : tensor<?x4xf32, #tg.place<global>> -> tensor<1x?x4xf32, #tg.place<global>>
    %v = tg.load %f : tensor<1x?x4xf32, #tg.place<global>> -> tensor<1x?x4xf32>
    %s = tg.store %f, %v : tensor<1x?x4xf32, #tg.place<global>>, tensor<1x?x4xf32>
    tg.sink %s : !tg.void
  }
}
func.func @dynamic(%n: tensor<index> {tg.min = 1 : index, tg.max = 8 : index}) {
  %a = tg.buffer 0 (%n) : tensor<?x4xf32, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @use(%a, %n) : (tensor<?x4xf32, #tg.place<"CPU", global>>, tensor<index>) -> !tg.void
  }
  func.return
}

// -----

// Devices have arenas of their own, and a buffer on several has a part of each.

tg.program @fill {
  tg.linear {
    %a = tg.param 0 : tensor<4x8xf32, #tg.place<["A", "B"], global, axis = 0>>
    %b = tg.param 1 : tensor<4xf32, #tg.place<"A", global>>
    %v = tg.load %b : tensor<4xf32, #tg.place<"A", global>> -> tensor<4xf32, #tg.place<"A">>
    %w = tg.load %a : tensor<4x8xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>
    tg.sink %a, %b : tensor<4x8xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4xf32, #tg.place<"A", global>>
  }
}

// CHECK-LABEL: func.func @devices
// CHECK-SAME:  tensor<2x64xui8, #tg.place<["A", "B"], global, axis = 0>> {tg.workspace}
// CHECK-SAME:  tensor<64xui8, #tg.place<"A", global>> {tg.workspace}
// CHECK-NEXT:    [[A:%.*]] = tg.shrink %{{.*}} at [0, 0] to [2, 64]
// CHECK-NEXT:    [[F:%.*]] = tg.bitcast [[A]] to f32 : {{.*}} -> tensor<2x16xf32, #tg.place<["A", "B"], global, axis = 0>>
// CHECK-NEXT:    %a = tg.reshape [[F]] [4, 8]
func.func @devices() {
  %a = tg.buffer 0 : tensor<4x8xf32, #tg.place<["A", "B"], global, axis = 0>>
  %b = tg.buffer 1 : tensor<4xf32, #tg.place<"A", global>>
  tg.linear {
    tg.call @fill(%a, %b) : (tensor<4x8xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4xf32, #tg.place<"A", global>>) -> !tg.void
  }
  func.return
}

// -----

// On several devices an arena is as large on each as for the greatest extents.
// CHECK-LABEL: func.func @many
// CHECK-SAME:    %workspace: tensor<2x64xui8, #tg.place<["A", "B"], global, axis = 0>> {tg.workspace}
tg.program @use {
  tg.linear {
    %n = tg.param 1 : tensor<index>
    %a = tg.param 0 (%n) : tensor<2x?xf32, #tg.place<["A", "B"], global, axis = 0>>
    tg.sink %a : tensor<2x?xf32, #tg.place<["A", "B"], global, axis = 0>>
  }
}
func.func @many(%n: tensor<index> {tg.min = 1 : index, tg.max = 9 : index}) {
  %a = tg.buffer 0 (%n) : tensor<2x?xf32, #tg.place<["A", "B"], global, axis = 0>>
  tg.linear {
    tg.call @use(%a, %n) : (tensor<2x?xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<index>) -> !tg.void
  }
  func.return
}
