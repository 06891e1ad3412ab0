// RUN: tg-opt %s -p tg-plan --verify-each=true | filecheck %s

// What constant arguments decide is in an arena of its own, after 64 bytes for whether it is there. The CALLs that make it
// come first. %b2, which a later CALL reads, lives on; %b0 is used by them alone, and makes room for %b3.

#g = #tg.place<global>
#cpu = #tg.place<"CPU", global>
tg.program @flip {
  tg.linear {
    %o = tg.param 0 : tensor<32xf32, #g>
    %x = tg.param 1 : tensor<32xf32, #g>
    %c32 = tg.const 32 : tensor<index>
    %i = tg.range 0 loop to %c32 : tensor<index>
    %c31 = tg.const 31 : tensor<index>
    %j = tg.sub %c31, %i : tensor<index>
    %xl = tg.index %x[%j] : (tensor<32xf32, #g>, tensor<index>) -> tensor<f32, #g>
    %xv = tg.load %xl : tensor<f32, #g> -> tensor<f32>
    %ol = tg.index %o[%i] : (tensor<32xf32, #g>, tensor<index>) -> tensor<f32, #g>
    %s = tg.store %ol, %xv : tensor<f32, #g>, tensor<f32>
    %e = tg.end %s over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// CHECK-LABEL: func.func @main
// CHECK-SAME:  %persistent: tensor<320xui8, #tg.place<"CPU", global>> {tg.persistent}
// CHECK-SAME:  %workspace: tensor<128xui8, #tg.place<"CPU", global>> {tg.workspace}
// CHECK-SAME:  attributes {tg.workspace_bytes = 128 : i64}
// CHECK-NEXT:  tg.shrink %persistent at [64] to [128]
// CHECK-NEXT:  %b0 =
// CHECK-NEXT:  tg.shrink %workspace at [0] to [128]
// CHECK-NEXT:  %b1 =
// CHECK-NEXT:  tg.shrink %persistent at [192] to [128]
// CHECK-NEXT:  %b2 =
// CHECK-NEXT:  tg.shrink %persistent at [64] to [128]
// CHECK-NEXT:  %b3 =
// CHECK-NEXT:  tg.linear {
// CHECK-NEXT:    tg.call @flip(%b0, %w)
// CHECK-NEXT:    tg.call @flip(%b2, %b0)
// CHECK-NEXT:    tg.call @flip(%b3, %b2)
// CHECK-NEXT:    tg.call @flip(%b1, %x)
// CHECK-NEXT:    tg.call @flip(%r, %b2)
// CHECK-NEXT:    tg.call @flip(%q, %b3)
// CHECK-NEXT:    tg.call @flip(%p, %b1)
func.func @main(%x: tensor<32xf32, #cpu>, %w: tensor<32xf32, #cpu> {tg.constant}, %r: tensor<32xf32, #cpu> {tg.output}, %q: tensor<32xf32, #cpu> {tg.output}, %p: tensor<32xf32, #cpu> {tg.output}) {
  %b0 = tg.buffer 0 : tensor<32xf32, #cpu>
  %b1 = tg.buffer 1 : tensor<32xf32, #cpu>
  %b2 = tg.buffer 2 : tensor<32xf32, #cpu>
  %b3 = tg.buffer 3 : tensor<32xf32, #cpu>
  tg.linear {
    tg.call @flip(%b0, %w) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%b1, %x) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%b2, %b0) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%r, %b2) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%b3, %b2) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%q, %b3) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%p, %b1) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
  }
  func.return
}

// A buffer that a CALL of the others writes as well is not constant, and nothing that is made of it.

// CHECK-LABEL: func.func @shared
// CHECK-NOT:   tg.persistent
func.func @shared(%x: tensor<32xf32, #cpu>, %w: tensor<32xf32, #cpu> {tg.constant}, %r: tensor<32xf32, #cpu> {tg.output}) {
  %b0 = tg.buffer 0 : tensor<32xf32, #cpu>
  %b1 = tg.buffer 1 : tensor<32xf32, #cpu>
  tg.linear {
    tg.call @flip(%b0, %w) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%b1, %b0) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%b0, %x) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
    tg.call @flip(%r, %b1) : (tensor<32xf32, #cpu>, tensor<32xf32, #cpu>) -> !tg.void
  }
  func.return
}
