// RUN: tg-opt %s -p tg-render | filecheck %s
// RUN: tg-opt %s -p tg-render,tg-render | filecheck %s
// RUN: tg-opt %s -p tg-render -t c | filecheck %s --check-prefix=PRINTED

// A program for the target `c` gets a SOURCE; the function that calls it stays.

builtin.module attributes {tg.target = #tg.target<"c">} {
  tg.program @k {
    %0 = tg.linear {
      %o = tg.param 0 : tensor<1xui8, #tg.place<global>>
      %i = tg.const 0 : tensor<index>
      %p = tg.index %o[%i] : (tensor<1xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
      %v = tg.load %p : tensor<ui8, #tg.place<global>> -> tensor<ui8>
      %w = tg.add %v, %v : tensor<ui8>
      %s = tg.store %p, %w : tensor<ui8, #tg.place<global>>, tensor<ui8>
      %k = tg.sink %s : !tg.void
    }
  }
  func.func @f(%x: tensor<1xui8, #tg.place<"CPU", global>>) attributes {tg.workspace_bytes = 0 : i64} {
    %0 = tg.linear {
      %1 = tg.call @k(%x) : (tensor<1xui8, #tg.place<"CPU", global>>) -> !tg.void
    }
    func.return
  }
}

// CHECK:     tg.program @k {
// CHECK:       tg.linear {
// CHECK:       tg.source "{{.*}}void k(uint8_t *o) {\0A  uint8_t v = o[0];\0A  o[0] = (uint8_t)(v + v);\0A}\0A"
// CHECK-NOT:   tg.source
// CHECK:     func.func @f

// PRINTED: void k(uint8_t *o) {
// PRINTED: void f(uint8_t *x) {
// PRINTED:   k(x);
