// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%f8E4M3FN: tensor<4xf8E4M3FN>, %f8E5M2: tensor<4xf8E5M2>, %f16: tensor<4xf16>, %bf16: tensor<4xbf16>, %f32: tensor<4xf32>, %f64: tensor<4xf64>) {
  // CHECK: %r_f8E4M3FN = tg.lgamma %f8E4M3FN, %f8E4M3FN : tensor<4xf8E4M3FN>
  // GENERIC: %r_f8E4M3FN = "tg.lgamma"(%f8E4M3FN, %f8E4M3FN) : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  %r_f8E4M3FN = tg.lgamma %f8E4M3FN, %f8E4M3FN : tensor<4xf8E4M3FN>
  // CHECK: %r_f8E5M2 = tg.lgamma %f8E5M2, %f8E5M2 : tensor<4xf8E5M2>
  // GENERIC: %r_f8E5M2 = "tg.lgamma"(%f8E5M2, %f8E5M2) : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  %r_f8E5M2 = tg.lgamma %f8E5M2, %f8E5M2 : tensor<4xf8E5M2>
  // CHECK: %r_f16 = tg.lgamma %f16, %f16 : tensor<4xf16>
  // GENERIC: %r_f16 = "tg.lgamma"(%f16, %f16) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %r_f16 = tg.lgamma %f16, %f16 : tensor<4xf16>
  // CHECK: %r_bf16 = tg.lgamma %bf16, %bf16 : tensor<4xbf16>
  // GENERIC: %r_bf16 = "tg.lgamma"(%bf16, %bf16) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %r_bf16 = tg.lgamma %bf16, %bf16 : tensor<4xbf16>
  // CHECK: %r_f32 = tg.lgamma %f32, %f32 : tensor<4xf32>
  // GENERIC: %r_f32 = "tg.lgamma"(%f32, %f32) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r_f32 = tg.lgamma %f32, %f32 : tensor<4xf32>
  // CHECK: %r_f64 = tg.lgamma %f64, %f64 : tensor<4xf64>
  // GENERIC: %r_f64 = "tg.lgamma"(%f64, %f64) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %r_f64 = tg.lgamma %f64, %f64 : tensor<4xf64>
  func.return
}

func.func @shapes(%a: tensor<4x1xf32>, %b: tensor<3xf32>, %c: tensor<f32>, %e: tensor<0x3xf32>, %m: tensor<3xf32, #tg.place<"CPU", global>>) {
  // CHECK: %broadcast = tg.lgamma %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // GENERIC: %broadcast = "tg.lgamma"(%a, %b) : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %broadcast = tg.lgamma %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: %scalar = tg.lgamma %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // GENERIC: %scalar = "tg.lgamma"(%c, %b) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %scalar = tg.lgamma %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %empty = tg.lgamma %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  // GENERIC: %empty = "tg.lgamma"(%e, %b) : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  %empty = tg.lgamma %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  // CHECK: %read = tg.lgamma %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.lgamma"(%m, %a) : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  %read = tg.lgamma %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  func.return
}

func.func @sharded(%s: tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, %u: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<f32>, %r: tensor<4xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.lgamma %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %same = "tg.lgamma"(%s, %u) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %same = tg.lgamma %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %null = tg.lgamma %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %null = "tg.lgamma"(%s, %v) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %null = tg.lgamma %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.lgamma %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %replicated = "tg.lgamma"(%r, %s) : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.lgamma %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" : tensor<index>
  %a = tg.param 1 (%n) : tensor<?xf32>
  %b = tg.param 2 (%n) : tensor<4x?xf32>
  // CHECK: %dynamic = tg.lgamma %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  // GENERIC: %dynamic = "tg.lgamma"(%a, %b) : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %dynamic = tg.lgamma %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  func.return
}
