// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// Views of the memory: the body before it is lowered.
func.func @views(%o: tensor<4xf32, #tg.place<"CPU", global>>, %a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // CHECK: %k = tg_legacy.kernel "E_4"(%o, %a) {
  // GENERIC: %k = "tg_legacy.kernel"(%o, %a) <{label = "E_4"}> ({
  %k = tg_legacy.kernel "E_4"(%o, %a) {
    %0 = tg_legacy.define_global 0 : tensor<4xf32, #tg.place<"CPU", global>>
    %1 = tg_legacy.define_global 1 : tensor<4xf32, #tg.place<"CPU", global>>
    %v = tg_legacy.view [#tg_legacy.view<[4]>] : !tg.void
    %x = tg_legacy.load %1 at %v : tensor<4xf32, #tg.place<"CPU", global>> at !tg.void -> tensor<4xf32, #tg.place<"CPU">>
    %y = tg.exp2 %x : tensor<4xf32, #tg.place<"CPU">>
    %s = tg_legacy.store %0 at %v value %y : tensor<4xf32, #tg.place<"CPU", global>> at !tg.void value tensor<4xf32, #tg.place<"CPU">>
    %r = tg.sink %s : !tg.void
  // CHECK: } : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  // GENERIC: }) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  } : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  func.return
}

// Loops and locations: the body after lowering. BARRIER stands in a KERNEL too.
func.func @loops(%o: tensor<1xf32, #tg.place<"CPU", global>>, %a: tensor<2x2xf32, #tg.place<"CPU", global>>) {
  // CHECK: %k = tg_legacy.kernel "r_4"(%o, %a) {
  // GENERIC: %k = "tg_legacy.kernel"(%o, %a) <{label = "r_4"}> ({
  %k = tg_legacy.kernel "r_4"(%o, %a) {
    %0 = tg_legacy.define_global 0 : tensor<1xf32, #tg.place<global>>
    %1 = tg_legacy.define_global 1 : tensor<4xf32, #tg.place<global>>
    %zero = tg.const 0 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %init = tg.const 0.0 : tensor<f32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %init over %i : (tensor<f32>, tensor<i32>) -> tensor<f32>
    %p = tg_legacy.index %1, %i : (tensor<4xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
    %x = tg_legacy.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
    %sum = tg.add %acc, %x : tensor<f32>
    %next = tg_legacy.assign %acc, %sum : tensor<f32>
    %q = tg_legacy.index %0, %zero : (tensor<1xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
    %s = tg_legacy.store %q value %next : tensor<f32, #tg.place<global>> value tensor<f32>
    %b = tg.barrier %s : !tg.void
    %r = tg.sink %b : !tg.void
  // CHECK: } : (tensor<1xf32, #tg.place<"CPU", global>>, tensor<2x2xf32, #tg.place<"CPU", global>>) -> !tg.void
  // GENERIC: }) : (tensor<1xf32, #tg.place<"CPU", global>>, tensor<2x2xf32, #tg.place<"CPU", global>>) -> !tg.void
  } : (tensor<1xf32, #tg.place<"CPU", global>>, tensor<2x2xf32, #tg.place<"CPU", global>>) -> !tg.void
  func.return
}

// A linear body, the value of a variable among the sources, and memory of unknown size.
func.func @linear(%o: tensor<64xi32, #tg.place<"CPU", global>>) {
  %n = tg_legacy.define_var "n" 1 to 64 : tensor<i32>
  %c = tg.const 7 : tensor<i32>
  %bind = tg_legacy.bind %n, %c : tensor<i32>
  // CHECK: %k = tg_legacy.kernel "fill"(%o, %bind) {
  // GENERIC: %k = "tg_legacy.kernel"(%o, %bind) <{label = "fill"}> ({
  %k = tg_legacy.kernel "fill"(%o, %bind) {
    %l = tg.linear {
      %name = tg_legacy.name "fill"
      %0 = tg_legacy.define_global 0 : tensor<?xi32, #tg.place<global>>
      %m = tg_legacy.define_var "n" 1 to 64 : tensor<i32>
      %zero = tg.const 0 : tensor<i32>
      %i = tg_legacy.range 0 from %zero to %m : tensor<i32>
      %s = tg_legacy.store %0 at %i value %i : tensor<?xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
      %e = tg_legacy.endrange %i : tensor<i32>
    }
    %r = tg.sink %l : !tg.void
  // CHECK: } : (tensor<64xi32, #tg.place<"CPU", global>>, tensor<i32>) -> !tg.void
  // GENERIC: }) : (tensor<64xi32, #tg.place<"CPU", global>>, tensor<i32>) -> !tg.void
  } : (tensor<64xi32, #tg.place<"CPU", global>>, tensor<i32>) -> !tg.void
  func.return
}

// Blocks, which the linearizer puts in a row.
func.func @blocks(%o: tensor<4xi32, #tg.place<"CPU", global>>) {
  // CHECK: %k = tg_legacy.kernel "iota"(%o) {
  // GENERIC: %k = "tg_legacy.kernel"(%o) <{label = "iota"}> ({
  %k = tg_legacy.kernel "iota"(%o) {
    %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %zero = tg.const 0 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %start = tg_legacy.blockstart %i : tensor<i32>
    %s = tg_legacy.store %0 at %i value %i : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %body = tg_legacy.block %s after %start : !tg.void
    %end = tg_legacy.blockend %i after %body : tensor<i32>
    %r = tg.sink %end : !tg.void
  // CHECK: } : tensor<4xi32, #tg.place<"CPU", global>> -> !tg.void
  // GENERIC: }) : (tensor<4xi32, #tg.place<"CPU", global>>) -> !tg.void
  } : tensor<4xi32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// No sources.
func.func @empty() {
  // CHECK: %k = tg_legacy.kernel "nothing"() {
  // GENERIC: %k = "tg_legacy.kernel"() <{label = "nothing"}> ({
  %k = tg_legacy.kernel "nothing"() {
    %r = tg.sink
  // CHECK: } : !tg.void
  // GENERIC: }) : () -> !tg.void
  } : !tg.void
  func.return
}
