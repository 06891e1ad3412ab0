// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// The tutorial's sum: the value of PHI outlives the loop.
tg.program @r_4 {
  %l = tg.linear {
    %o = tg_legacy.define_global 0 "data0" mutable : tensor<?xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 "data1" : tensor<?xi32, #tg.place<global>>
    %zero = tg.const 0 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %zero : tensor<i32>
    %i = tg_legacy.loop from %zero to %four : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<?xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %sum = tg_legacy.alu "BinaryOps.ADD" %x, %acc : tensor<i32>
    // CHECK: %phi = tg_legacy.phi %acc, %sum over %i : tensor<i32>
    // GENERIC: %phi = "tg_legacy.phi"(%acc, %sum, %i) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %phi = tg_legacy.phi %acc, %sum over %i : tensor<i32>
    %e = tg_legacy.endloop %i : tensor<i32>
    %s = tg_legacy.store %o at %zero value %phi : tensor<?xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}

func.func @vector(%v: tensor<4xf32>, %n: tensor<i32>) {
  %acc = tg_legacy.define_acc 0 from %v : tensor<4xf32>
  %i = tg_legacy.loop from %n to %n : tensor<i32>
  %j = tg_legacy.loop from %n to %n : tensor<i32>
  // CHECK: %0 = tg_legacy.phi %acc, %v over %i, %j : (tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<4xf32>
  // GENERIC: %0 = "tg_legacy.phi"(%acc, %v, %i, %j) : (tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<4xf32>
  %0 = tg_legacy.phi %acc, %v over %i, %j : (tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<4xf32>
  // CHECK: %1 = tg_legacy.phi %0, %v : tensor<4xf32>
  // GENERIC: %1 = "tg_legacy.phi"(%0, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tg_legacy.phi %0, %v : tensor<4xf32>
  func.return
}
