// RUN: tg-opt %s -p tg-plan --verify-each=true | filecheck %s
// RUN: tg-opt %s -p tg-plan,tg-plan --verify-each=true | filecheck %s

tg.program @flip {
  tg.linear {
    %o = tg.param 0 : tensor<32xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32xf32, #tg.place<global>>
    %c32 = tg.const 32 : tensor<index>
    %i = tg.range 0 loop to %c32 : tensor<index>
    %c31 = tg.const 31 : tensor<index>
    %j = tg.sub %c31, %i : tensor<index>
    %xl = tg.index %x[%j] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
    %ol = tg.index %o[%i] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %ol, %xv : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// In a chain %b0 -> %b1 -> %b2 the first is dead when the last is made: they share bytes 0 to 127.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:  %r: tensor<32xf32, #tg.place<"CPU", global>> {tg.output}
// CHECK-SAME:  %workspace: tensor<256xui8, #tg.place<"CPU", global>> {tg.workspace}
// CHECK-SAME:  attributes {tg.workspace_bytes = 256 : i64}
// CHECK-NEXT:    [[A:%.*]] = tg.shrink %workspace at [0] to [128]
// CHECK-NEXT:    %b0 = tg.bitcast [[A]] to f32 : {{.*}} -> tensor<32xf32, #tg.place<"CPU", global>>
// CHECK-NEXT:    [[B:%.*]] = tg.shrink %workspace at [128] to [128]
// CHECK-NEXT:    %b1 = tg.bitcast [[B]] to f32
// CHECK-NEXT:    [[C:%.*]] = tg.shrink %workspace at [0] to [128]
// CHECK-NEXT:    [[D:%.*]] = tg.bitcast [[C]] to f32
// CHECK-NEXT:    [[E:%.*]] = tg.reshape [[D]] [4, 8]
// CHECK-NEXT:    %v2 = tg.reshape [[E]] [32]
// CHECK-NEXT:    tg.linear {
// CHECK-NEXT:      tg.call @flip(%b0, %a)
// CHECK-NEXT:      tg.call @flip(%b1, %b0)
// CHECK-NEXT:      tg.call @flip(%v2, %b1)
// CHECK-NEXT:      tg.call @flip(%r, %v2)
func.func @chain(%a: tensor<32xf32, #tg.place<"CPU", global>>, %r: tensor<32xf32, #tg.place<"CPU", global>> {tg.output}) {
  %b0 = tg.buffer 0 : tensor<32xf32, #tg.place<"CPU", global>>
  %b1 = tg.buffer 1 : tensor<32xf32, #tg.place<"CPU", global>>
  %unused = tg.buffer 3 : tensor<32xf32, #tg.place<"CPU", global>>
  %b2 = tg.buffer 2 : tensor<4x8xf32, #tg.place<"CPU", global>>
  %v2 = tg.reshape %b2 [32] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<32xf32, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @flip(%b0, %a) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%b1, %b0) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%v2, %b1) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
    tg.call @flip(%r, %v2) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}

// Nothing to plan: no argument.
// CHECK-LABEL: func.func @direct
// CHECK-NOT:   workspace:
// CHECK-SAME:  tg.workspace_bytes = 0
func.func @direct(%a: tensor<32xf32, #tg.place<"CPU", global>>, %r: tensor<32xf32, #tg.place<"CPU", global>>) {
  tg.linear {
    tg.call @flip(%r, %a) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}

// Buffers that no CALL accesses take no arena.
// CHECK-LABEL: func.func @unused
// CHECK-NOT:   workspace:
// CHECK-SAME:  tg.workspace_bytes = 0
// CHECK-NOT:   tg.buffer
func.func @unused(%a: tensor<32xf32, #tg.place<"CPU", global>>, %r: tensor<32xf32, #tg.place<"CPU", global>>) {
  %b = tg.buffer 0 : tensor<32xf32, #tg.place<"CPU", global>>
  %c = tg.buffer 1 : tensor<32xf32, #tg.place<"CPU", global>>
  %view = tg.reshape %c [4, 8] : tensor<32xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @flip(%r, %a) : (tensor<32xf32, #tg.place<"CPU", global>>, tensor<32xf32, #tg.place<"CPU", global>>) -> !tg.void
  }
  func.return
}
