// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s
// RUN: tg-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

tg.kernel @copy {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %s = tg.store %o, %x : tensor<4xf32, #tg.place<global>>, tensor<4xf32, #tg.place<global>>
  %k = tg.sink %s : !tg.void
}

tg.program @compiled {
  %l = tg.linear {
    %n = tg.param 0 : tensor<index>
  }
}

%h = tg.customfunction @hevc_decode()

func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tg.add %x, %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

func.func @main(%a: tensor<4xf32, #tg.place<"CPU", global>>, %b: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<4xf32>, %n: tensor<index>) {
  // CHECK: %0 = tg.call @copy(%a, %b) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  // GENERIC: %0 = "tg.call"(%a, %b) <{callee = @copy}> : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  %0 = tg.call @copy(%a, %b) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  // CHECK: %1 = tg.call @compiled(%n) : tensor<index> -> !tg.void
  %1 = tg.call @compiled(%n) : tensor<index> -> !tg.void
  // CHECK: %2 = tg.call @hevc_decode(%a, %n) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> !tg.void
  %2 = tg.call @hevc_decode(%a, %n) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> !tg.void
  // CHECK: %3 = tg.call @double(%x) : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  %3 = tg.call @double(%x) : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}
