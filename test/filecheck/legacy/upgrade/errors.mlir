// RUN: tg-opt %s -p tg-upgrade-legacy --verify-diagnostics --split-input-file

tg.kernel @assigned_twice {
  %out = tg_legacy.define_global 0 : tensor<1xi32, #tg.place<global>>
  %c0 = tg.const 0 : tensor<i32>
  %c4 = tg.const 4 : tensor<i32>
  %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
  %acc = tg_legacy.define_acc 0 from %c0 over %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = tg.add %acc, %i : tensor<i32>
  %n = tg_legacy.assign %acc, %s : tensor<i32>
  // expected-error@below {{this accumulator is assigned to twice, or has no loops}}
  %m = tg_legacy.assign %acc, %s : tensor<i32>
  %t = tg_legacy.store %out at %c0 value %m : tensor<1xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  %r = tg.sink %t : !tg.void
}

// -----

func.func @not_through_a_view(%o: tensor<4xi32, #tg.place<"CPU", global>>, %x: tensor<4xi32, #tg.place<"CPU", global>>) {
  %k = tg_legacy.kernel "k"(%o, %x) {
    %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<"CPU", global>>
    %c0 = tg.const 0 : tensor<i32>
    // expected-error@below {{a kernel with shapes stores through a VIEW}}
    %s = tg_legacy.store %0 at %c0 value %c0 : tensor<4xi32, #tg.place<"CPU", global>> at tensor<i32> value tensor<i32>
    %r = tg.sink %s : !tg.void
  } : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU", global>>) -> !tg.void
  func.return
}

// -----

func.func @not_an_argument(%o: tensor<4xi32, #tg.place<"CPU", global>>) {
  %k = tg_legacy.kernel "k"(%o) {
    %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<"CPU", global>>
    %1 = tg_legacy.define_local "t" : tensor<4xi32, #tg.place<"CPU", local>>
    %v = tg_legacy.view [#tg_legacy.view<[4]>] : !tg.void
    %x = tg_legacy.load %0 at %v : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void -> tensor<4xi32, #tg.place<"CPU">>
    // expected-error@below {{a kernel with shapes stores to a DEFINE_GLOBAL, not to tg_legacy.define_local}}
    %s = tg_legacy.store %1 at %v value %x : tensor<4xi32, #tg.place<"CPU", local>> at !tg.void value tensor<4xi32, #tg.place<"CPU">>
    %r = tg.sink %s : !tg.void
  } : tensor<4xi32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

func.func @reads_back(%o: tensor<4xi32, #tg.place<"CPU", global>>, %x: tensor<4xi32, #tg.place<"CPU", global>>) {
  %k = tg_legacy.kernel "k"(%o, %x) {
    %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<"CPU", global>>
    %1 = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<"CPU", global>>
    %v = tg_legacy.view [#tg_legacy.view<[4]>] : !tg.void
    %z = tg_legacy.load %1 at %v : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void -> tensor<4xi32, #tg.place<"CPU">>
    // expected-error@below {{a kernel with shapes does not read what it has stored}}
    %s = tg_legacy.store %0 at %v value %z : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void value tensor<4xi32, #tg.place<"CPU">>
    %y = tg_legacy.load %0 at %v after %s : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void after !tg.void -> tensor<4xi32, #tg.place<"CPU">>
    %t = tg_legacy.store %1 at %v value %y : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void value tensor<4xi32, #tg.place<"CPU">>
    %r = tg.sink %t : !tg.void
  } : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU", global>>) -> !tg.void
  func.return
}

// -----

func.func @no_store(%o: tensor<4xi32, #tg.place<"CPU", global>>) {
  // expected-error@below {{kernel k writes nothing}}
  %k = tg_legacy.kernel "k"(%o) {
    %r = tg.sink
  } : tensor<4xi32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

tg.program @two_sizes {
  %0 = tg.linear {
    %v = tg_legacy.vconst [0, 1] : tensor<2xi32>
    %w = tg_legacy.vconst [0, 1, 2] : tensor<3xi32>
    %i = tg_legacy.unroll %v [[0, 2]] : tensor<2xi32> -> tensor<i32>
    %j = tg_legacy.unroll %w [[0, 3]] : tensor<3xi32> -> tensor<i32>
    // expected-error@below {{axis 0 has 2 and 3 iterations}}
    %s = tg.add %i, %j : tensor<i32>
  }
}

// -----

tg.program @unrolled_already {
  %0 = tg.linear {
    %v = tg_legacy.vconst [0, 1] : tensor<2xi32>
    %i = tg_legacy.unroll %v [[0, 2]] : tensor<2xi32> -> tensor<i32>
    %w = tg_legacy.vectorize %i, %i : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
    // expected-error@below {{axis 0 is unrolled already}}
    %j = tg_legacy.unroll %w [[0, 2]] : tensor<2xi32> -> tensor<i32>
  }
}

// -----

tg.program @on_tensors {
  %0 = tg.linear {
    // expected-error@below {{tg_legacy.empty does not belong in a kernel}}
    %m = tg_legacy.empty : tensor<4xi32, #tg.place<"CPU", global>>
  }
}

// -----

tg.program @in_a_view {
  %0 = tg.linear {
    %a = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    // expected-error@below {{a kernel accesses memory at a position, not in a VIEW or whole}}
    %x = tg_legacy.load %a : tensor<4xi32, #tg.place<global>> -> tensor<4xi32>
  }
}

// -----

tg.program @assigns_memory {
  %0 = tg.linear {
    %a = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %v = tg_legacy.vconst [0, 1, 2, 3] : tensor<4xi32>
    // expected-error@below {{a kernel assigns to accumulators only: memory has STORE}}
    %b = tg_legacy.assign %a, %v : (tensor<4xi32, #tg.place<global>>, tensor<4xi32>) -> tensor<4xi32, #tg.place<global>>
  }
}

// -----

// expected-error@below {{kernel empty writes nothing}}
tg.program @empty {
  %0 = tg.linear {
    %a = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
  }
}

// -----

tg.program @defined_twice {
  %0 = tg.linear {
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    // expected-error@below {{argument 1 is defined twice}}
    %b = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
  }
}

// -----

tg.program @unbounded {
  %0 = tg.linear {
    // expected-error@below {{nothing bounds the positions at which argument 0 is accessed, and it does not state its size}}
    %a = tg_legacy.define_global 0 : tensor<?xi64, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i64>
    %x = tg_legacy.load %a at %c0 : tensor<?xi64, #tg.place<global>> at tensor<i64> -> tensor<i64>
    %s = tg_legacy.store %a at %x value %x : tensor<?xi64, #tg.place<global>> at tensor<i64> value tensor<i64>
  }
}

// -----

func.func @of_a_kernel(%x: tensor<4xf32>) {
  // expected-error@below {{tg_legacy.unroll belongs in a kernel, not in a program on tensors}}
  %i = tg_legacy.unroll %x [[0, 4]] : tensor<4xf32> -> tensor<f32>
  func.return
}

// -----

func.func @one_unique() {
  %d = tg_legacy.device "CPU"
  %u = tg_legacy.unique 0
  %a = tg_legacy.buffer %d, %u size 4 : tensor<4xi32, #tg.place<"CPU", global>>
  // expected-error@below {{UNIQUE 0 is tensor<4xi32, #tg.place<"CPU", global>> already, not tensor<8xi32, #tg.place<"CPU", global>>}}
  %b = tg_legacy.buffer %d, %u size 8 : tensor<8xi32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @vector(%m: tensor<4xi32, #tg.place<"CPU", global>>, %p: tensor<i32>) {
  // expected-error@below {{a vector at a position belongs in a kernel}}
  %x = tg_legacy.load %m at %p : tensor<4xi32, #tg.place<"CPU", global>> at tensor<i32> -> tensor<2xi32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @other_target(%o: tensor<4xi32, #tg.place<"CPU", global>>, %x: tensor<4xi32, #tg.place<"CPU", global>>) {
  %k = tg_legacy.kernel "k"(%o, %x) {
    %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<"CPU", global>>
    %1 = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<"CPU", global>>
    %v = tg_legacy.view [#tg_legacy.view<[4]>] : !tg.void
    %y = tg_legacy.load %1 at %v : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void -> tensor<4xi32, #tg.place<"CPU">>
    %s = tg_legacy.store %0 at %v value %y : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void value tensor<4xi32, #tg.place<"CPU">>
    %r = tg.sink %s : !tg.void
  } : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU", global>>) -> !tg.void
  // expected-error@below {{the KERNEL does not write the target of this ASSIGN}}
  %w = tg_legacy.assign %x, %k : (tensor<4xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xi32, #tg.place<"CPU", global>>
  func.return
}

// -----

tg.program @unknown_fragments {
  %0 = tg.linear {
    %x = tg_legacy.vconst [0.0, 1.0] : tensor<2xf32>
    // expected-error@below {{which elements a thread of METAL holds in a 8x8x8 wmma of 32 threads is not known: write it as tg.wmma, which states it}}
    %d = tg_legacy.wmma %x, %x, %x config <"WMMA_8_8_8_float_float", [8, 8, 8], f32, f32, "METAL", 32, [[[0, 2]], [[0, 2]], [[0, 2]]], []> : tensor<2xf32>
  }
}

// -----

builtin.module {
  builtin.module {
    func.func @nested(%x: tensor<4xf32>) {
      // expected-error@below {{tg_legacy.noop belongs in a tg.program, a tg.kernel or a KERNEL}}
      %y = tg_legacy.noop %x : tensor<4xf32>
      func.return
    }
  }
}

// -----

tg.program @changing_initial {
  %0 = tg.linear {
    %out = tg_legacy.define_global 0 : tensor<1xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %v = tg.mul %i, %c4 : tensor<i32>
    // expected-error@below {{the initial value of an accumulator changes within the loops it names}}
    %acc = tg_legacy.define_acc 0 from %v over %i : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %s = tg.add %acc, %i : tensor<i32>
    %n = tg_legacy.assign %acc, %s : tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
    %st = tg_legacy.store %out at %c0 value %n : tensor<1xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}
