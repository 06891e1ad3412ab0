// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%f8E4M3FN: tensor<4xf8E4M3FN>, %f8E5M2: tensor<4xf8E5M2>, %f16: tensor<4xf16>, %bf16: tensor<4xbf16>, %f32: tensor<4xf32>, %f64: tensor<4xf64>) {
  // CHECK: %r_f8E4M3FN = tg.gelu %f8E4M3FN : tensor<4xf8E4M3FN>
  // GENERIC: %r_f8E4M3FN = "tg.gelu"(%f8E4M3FN) : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  %r_f8E4M3FN = tg.gelu %f8E4M3FN : tensor<4xf8E4M3FN>
  // CHECK: %r_f8E5M2 = tg.gelu %f8E5M2 : tensor<4xf8E5M2>
  // GENERIC: %r_f8E5M2 = "tg.gelu"(%f8E5M2) : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  %r_f8E5M2 = tg.gelu %f8E5M2 : tensor<4xf8E5M2>
  // CHECK: %r_f16 = tg.gelu %f16 : tensor<4xf16>
  // GENERIC: %r_f16 = "tg.gelu"(%f16) : (tensor<4xf16>) -> tensor<4xf16>
  %r_f16 = tg.gelu %f16 : tensor<4xf16>
  // CHECK: %r_bf16 = tg.gelu %bf16 : tensor<4xbf16>
  // GENERIC: %r_bf16 = "tg.gelu"(%bf16) : (tensor<4xbf16>) -> tensor<4xbf16>
  %r_bf16 = tg.gelu %bf16 : tensor<4xbf16>
  // CHECK: %r_f32 = tg.gelu %f32 : tensor<4xf32>
  // GENERIC: %r_f32 = "tg.gelu"(%f32) : (tensor<4xf32>) -> tensor<4xf32>
  %r_f32 = tg.gelu %f32 : tensor<4xf32>
  // CHECK: %r_f64 = tg.gelu %f64 : tensor<4xf64>
  // GENERIC: %r_f64 = "tg.gelu"(%f64) : (tensor<4xf64>) -> tensor<4xf64>
  %r_f64 = tg.gelu %f64 : tensor<4xf64>
  func.return
}

func.func @shapes(%c: tensor<f64>, %m: tensor<4xf64, #tg.place<"CPU", global>>, %d: tensor<?xf64>, %s: tensor<4xf64, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %scalar = tg.gelu %c : tensor<f64>
  // GENERIC: %scalar = "tg.gelu"(%c) : (tensor<f64>) -> tensor<f64>
  %scalar = tg.gelu %c : tensor<f64>
  // CHECK: %read = tg.gelu %m : tensor<4xf64, #tg.place<"CPU", global>> -> tensor<4xf64, #tg.place<"CPU">>
  // GENERIC: %read = "tg.gelu"(%m) : (tensor<4xf64, #tg.place<"CPU", global>>) -> tensor<4xf64, #tg.place<"CPU">>
  %read = tg.gelu %m : tensor<4xf64, #tg.place<"CPU", global>> -> tensor<4xf64, #tg.place<"CPU">>
  // CHECK: %dynamic = tg.gelu %d : tensor<?xf64>
  // GENERIC: %dynamic = "tg.gelu"(%d) : (tensor<?xf64>) -> tensor<?xf64>
  %dynamic = tg.gelu %d : tensor<?xf64>
  // CHECK: %sharded = tg.gelu %s : tensor<4xf64, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.gelu"(%s) : (tensor<4xf64, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf64, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.gelu %s : tensor<4xf64, #tg.place<["A", "B"], axis = 0>>
  func.return
}
