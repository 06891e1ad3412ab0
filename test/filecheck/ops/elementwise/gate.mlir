// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%f8E4M3FN: tensor<4xf8E4M3FN>, %f8E5M2: tensor<4xf8E5M2>, %f16: tensor<4xf16>, %bf16: tensor<4xbf16>, %f32: tensor<4xf32>, %f64: tensor<4xf64>) {
  // CHECK: %r_f8E4M3FN = tg.gate %f8E4M3FN, %f8E4M3FN : tensor<4xf8E4M3FN>
  // GENERIC: %r_f8E4M3FN = "tg.gate"(%f8E4M3FN, %f8E4M3FN) : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  %r_f8E4M3FN = tg.gate %f8E4M3FN, %f8E4M3FN : tensor<4xf8E4M3FN>
  // CHECK: %r_f8E5M2 = tg.gate %f8E5M2, %f8E5M2 : tensor<4xf8E5M2>
  // GENERIC: %r_f8E5M2 = "tg.gate"(%f8E5M2, %f8E5M2) : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  %r_f8E5M2 = tg.gate %f8E5M2, %f8E5M2 : tensor<4xf8E5M2>
  // CHECK: %r_f16 = tg.gate %f16, %f16 : tensor<4xf16>
  // GENERIC: %r_f16 = "tg.gate"(%f16, %f16) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %r_f16 = tg.gate %f16, %f16 : tensor<4xf16>
  // CHECK: %r_bf16 = tg.gate %bf16, %bf16 : tensor<4xbf16>
  // GENERIC: %r_bf16 = "tg.gate"(%bf16, %bf16) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %r_bf16 = tg.gate %bf16, %bf16 : tensor<4xbf16>
  // CHECK: %r_f32 = tg.gate %f32, %f32 : tensor<4xf32>
  // GENERIC: %r_f32 = "tg.gate"(%f32, %f32) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r_f32 = tg.gate %f32, %f32 : tensor<4xf32>
  // CHECK: %r_f64 = tg.gate %f64, %f64 : tensor<4xf64>
  // GENERIC: %r_f64 = "tg.gate"(%f64, %f64) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %r_f64 = tg.gate %f64, %f64 : tensor<4xf64>
  func.return
}

func.func @shapes(%a: tensor<4x1xf32>, %b: tensor<3xf32>, %c: tensor<f32>, %e: tensor<0x3xf32>, %m: tensor<3xf32, #tg.place<"CPU", global>>) {
  // CHECK: %broadcast = tg.gate %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // GENERIC: %broadcast = "tg.gate"(%a, %b) : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %broadcast = tg.gate %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: %lost = tg.gate %b, %c lost %b : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // GENERIC: %lost = "tg.gate"(%b, %c, %b) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %lost = tg.gate %b, %c lost %b : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %scalar = tg.gate %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // GENERIC: %scalar = "tg.gate"(%c, %b) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %scalar = tg.gate %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %empty = tg.gate %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  // GENERIC: %empty = "tg.gate"(%e, %b) : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  %empty = tg.gate %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  // CHECK: %read = tg.gate %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.gate"(%m, %a) : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  %read = tg.gate %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  func.return
}

func.func @sharded(%s: tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, %u: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<f32>, %r: tensor<4xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.gate %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %same = "tg.gate"(%s, %u) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %same = tg.gate %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %null = tg.gate %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %null = "tg.gate"(%s, %v) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %null = tg.gate %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.gate %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %replicated = "tg.gate"(%r, %s) : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.gate %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" : tensor<index>
  %a = tg.param 1 (%n) : tensor<?xf32>
  %b = tg.param 2 (%n) : tensor<4x?xf32>
  // CHECK: %dynamic = tg.gate %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  // GENERIC: %dynamic = "tg.gate"(%a, %b) : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %dynamic = tg.gate %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  func.return
}
