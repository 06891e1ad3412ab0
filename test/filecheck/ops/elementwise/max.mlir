// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%i8: tensor<4xi8>, %i16: tensor<4xi16>, %i32: tensor<4xi32>, %i64: tensor<4xi64>, %ui8: tensor<4xui8>, %ui16: tensor<4xui16>, %ui32: tensor<4xui32>, %ui64: tensor<4xui64>, %index: tensor<4xindex>, %f8E4M3FN: tensor<4xf8E4M3FN>, %f8E5M2: tensor<4xf8E5M2>, %f16: tensor<4xf16>, %bf16: tensor<4xbf16>, %f32: tensor<4xf32>, %f64: tensor<4xf64>, %i1: tensor<4xi1>) {
  // CHECK: %r_i8 = tg.max %i8, %i8 : tensor<4xi8>
  // GENERIC: %r_i8 = "tg.max"(%i8, %i8) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %r_i8 = tg.max %i8, %i8 : tensor<4xi8>
  // CHECK: %r_i16 = tg.max %i16, %i16 : tensor<4xi16>
  // GENERIC: %r_i16 = "tg.max"(%i16, %i16) : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  %r_i16 = tg.max %i16, %i16 : tensor<4xi16>
  // CHECK: %r_i32 = tg.max %i32, %i32 : tensor<4xi32>
  // GENERIC: %r_i32 = "tg.max"(%i32, %i32) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r_i32 = tg.max %i32, %i32 : tensor<4xi32>
  // CHECK: %r_i64 = tg.max %i64, %i64 : tensor<4xi64>
  // GENERIC: %r_i64 = "tg.max"(%i64, %i64) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %r_i64 = tg.max %i64, %i64 : tensor<4xi64>
  // CHECK: %r_ui8 = tg.max %ui8, %ui8 : tensor<4xui8>
  // GENERIC: %r_ui8 = "tg.max"(%ui8, %ui8) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %r_ui8 = tg.max %ui8, %ui8 : tensor<4xui8>
  // CHECK: %r_ui16 = tg.max %ui16, %ui16 : tensor<4xui16>
  // GENERIC: %r_ui16 = "tg.max"(%ui16, %ui16) : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xui16>
  %r_ui16 = tg.max %ui16, %ui16 : tensor<4xui16>
  // CHECK: %r_ui32 = tg.max %ui32, %ui32 : tensor<4xui32>
  // GENERIC: %r_ui32 = "tg.max"(%ui32, %ui32) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %r_ui32 = tg.max %ui32, %ui32 : tensor<4xui32>
  // CHECK: %r_ui64 = tg.max %ui64, %ui64 : tensor<4xui64>
  // GENERIC: %r_ui64 = "tg.max"(%ui64, %ui64) : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xui64>
  %r_ui64 = tg.max %ui64, %ui64 : tensor<4xui64>
  // CHECK: %r_index = tg.max %index, %index : tensor<4xindex>
  // GENERIC: %r_index = "tg.max"(%index, %index) : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xindex>
  %r_index = tg.max %index, %index : tensor<4xindex>
  // CHECK: %r_f8E4M3FN = tg.max %f8E4M3FN, %f8E4M3FN : tensor<4xf8E4M3FN>
  // GENERIC: %r_f8E4M3FN = "tg.max"(%f8E4M3FN, %f8E4M3FN) : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  %r_f8E4M3FN = tg.max %f8E4M3FN, %f8E4M3FN : tensor<4xf8E4M3FN>
  // CHECK: %r_f8E5M2 = tg.max %f8E5M2, %f8E5M2 : tensor<4xf8E5M2>
  // GENERIC: %r_f8E5M2 = "tg.max"(%f8E5M2, %f8E5M2) : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  %r_f8E5M2 = tg.max %f8E5M2, %f8E5M2 : tensor<4xf8E5M2>
  // CHECK: %r_f16 = tg.max %f16, %f16 : tensor<4xf16>
  // GENERIC: %r_f16 = "tg.max"(%f16, %f16) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %r_f16 = tg.max %f16, %f16 : tensor<4xf16>
  // CHECK: %r_bf16 = tg.max %bf16, %bf16 : tensor<4xbf16>
  // GENERIC: %r_bf16 = "tg.max"(%bf16, %bf16) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %r_bf16 = tg.max %bf16, %bf16 : tensor<4xbf16>
  // CHECK: %r_f32 = tg.max %f32, %f32 : tensor<4xf32>
  // GENERIC: %r_f32 = "tg.max"(%f32, %f32) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r_f32 = tg.max %f32, %f32 : tensor<4xf32>
  // CHECK: %r_f64 = tg.max %f64, %f64 : tensor<4xf64>
  // GENERIC: %r_f64 = "tg.max"(%f64, %f64) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %r_f64 = tg.max %f64, %f64 : tensor<4xf64>
  // CHECK: %r_i1 = tg.max %i1, %i1 : tensor<4xi1>
  // GENERIC: %r_i1 = "tg.max"(%i1, %i1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r_i1 = tg.max %i1, %i1 : tensor<4xi1>
  func.return
}

func.func @shapes(%a: tensor<4x1xf32>, %b: tensor<3xf32>, %c: tensor<f32>, %e: tensor<0x3xf32>, %m: tensor<3xf32, #tg.place<"CPU", global>>) {
  // CHECK: %broadcast = tg.max %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // GENERIC: %broadcast = "tg.max"(%a, %b) : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %broadcast = tg.max %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: %scalar = tg.max %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // GENERIC: %scalar = "tg.max"(%c, %b) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %scalar = tg.max %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %empty = tg.max %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  // GENERIC: %empty = "tg.max"(%e, %b) : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  %empty = tg.max %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  // CHECK: %read = tg.max %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.max"(%m, %a) : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  %read = tg.max %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  func.return
}

func.func @sharded(%s: tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, %u: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<f32>, %r: tensor<4xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.max %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %same = "tg.max"(%s, %u) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %same = tg.max %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %null = tg.max %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %null = "tg.max"(%s, %v) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %null = tg.max %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.max %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %replicated = "tg.max"(%r, %s) : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.max %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" : tensor<index>
  %a = tg.param 1 (%n) : tensor<?xf32>
  %b = tg.param 2 (%n) : tensor<4x?xf32>
  // CHECK: %dynamic = tg.max %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  // GENERIC: %dynamic = "tg.max"(%a, %b) : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %dynamic = tg.max %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  func.return
}
