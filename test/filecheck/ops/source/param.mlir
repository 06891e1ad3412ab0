// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f() {
  // CHECK: %p = tg.param 0 : tensor<4x8xf32>
  // GENERIC: %p = "tg.param"() <{slot = #tg.number<0>}> : () -> tensor<4x8xf32>
  %p = tg.param 0 : tensor<4x8xf32>
  // CHECK: %q = tg.param 1 : tensor<4x8xf32, #tg.place<"CPU", global>>
  // GENERIC: %q = "tg.param"() <{slot = #tg.number<1>}> : () -> tensor<4x8xf32, #tg.place<"CPU", global>>
  %q = tg.param 1 : tensor<4x8xf32, #tg.place<"CPU", global>>
  // CHECK: %n = tg.param 2 "n" min 1 max 64 : tensor<index>
  // GENERIC: %n = "tg.param"() <{slot = #tg.number<2>, name = "n", min = #tg.number<1>, max = #tg.number<64>}> : () -> tensor<index>
  %n = tg.param 2 "n" min 1 max 64 : tensor<index>
  // CHECK: %m = tg.param 3 min -4 : tensor<i32>
  // GENERIC: %m = "tg.param"() <{slot = #tg.number<3>, min = #tg.number<-4>}> : () -> tensor<i32>
  %m = tg.param 3 min -4 : tensor<i32>
  // CHECK: %d = tg.param 4(%n) : tensor<?x2xf32>
  // GENERIC: %d = "tg.param"(%n) <{slot = #tg.number<4>}> : (tensor<index>) -> tensor<?x2xf32>
  %d = tg.param 4(%n) : tensor<?x2xf32>
  // CHECK: %e = tg.param 5(%n, %n) {tag = "dynamic"} : tensor<?x2x?xf32, #tg.place<global>>
  // GENERIC: %e = "tg.param"(%n, %n) <{slot = #tg.number<5>}> {tag = "dynamic"} : (tensor<index>, tensor<index>) -> tensor<?x2x?xf32, #tg.place<global>>
  %e = tg.param 5(%n, %n) {tag = "dynamic"} : tensor<?x2x?xf32, #tg.place<global>>
  // CHECK: %again = tg.param 0 : tensor<4x8xf32>
  // GENERIC: %again = "tg.param"() <{slot = #tg.number<0>}> : () -> tensor<4x8xf32>
  %again = tg.param 0 : tensor<4x8xf32>
  func.return
}
