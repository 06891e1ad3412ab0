// RUN: tg-opt %s -p 'tg-split{axis=0 factor=4 target=upcast},tg-verify{level=kernels}' | filecheck %s
// RUN: tg-opt %s -p 'tg-optimize{mode="explicit:padto 0, 4; split 0, 4, upcast"}' | filecheck %s --check-prefix=PADTO
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=4 target=upcast overlap=true}' 2>&1 | filecheck %s --check-prefix=OVERLAP
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=32 target=upcast}' 2>&1 | filecheck %s --check-prefix=DYNAMIC

// A dynamic extent that is a multiple of a number in every call is made of parts of that number: no iteration is masked.

// CHECK: %[[ROWS:.*]] = tg.mul %n, %{{.*}}
// CHECK: %[[PARTS:.*]] = tg.idiv %[[ROWS]], %{{.*}}
// CHECK: tg.range 0 global to %[[PARTS]]
// CHECK: tg.range 1 upcast to
// CHECK-NOT: cmplt
// CHECK-NOT: gate

// PADTO: %[[FOUR:.*]] = tg.const 4
// PADTO: %[[COUNT:.*]] = tg.mul %n, %[[FOUR]]
// PADTO: tg.range 0 global to %[[COUNT]]
// PADTO: opts [#tg.opt<split 0, 4, upcast>]

// OVERLAP: error: pass tg-split: split 0, 4, upcast, overlap: parts of 4 of range 0 do not overlap

// DYNAMIC: error: pass tg-split: split 0, 32, upcast: the extent of range 0 is dynamic

#g = #tg.place<global>
tg.kernel @double {
  %n = tg.param 0 min 1 max 64 : tensor<index>
  %c16 = tg.const 16 : tensor<index>
  %rows = tg.mul %n, %c16 : tensor<index>
  %o = tg.param 1(%rows) : tensor<?xf32, #g>
  %a = tg.param 2(%rows) : tensor<?xf32, #g>
  %i = tg.range 0 loop to %rows : tensor<index>
  %al = tg.index %a[%i] : (tensor<?xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %x = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %y = tg.add %x, %x : tensor<f32>
  %ol = tg.index %o[%i] : (tensor<?xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %y : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %sink = tg.sink %e : !tg.void
}
