// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%i8: tensor<4xi8>, %i16: tensor<4xi16>, %i32: tensor<4xi32>, %i64: tensor<4xi64>, %ui8: tensor<4xui8>, %ui16: tensor<4xui16>, %ui32: tensor<4xui32>, %ui64: tensor<4xui64>, %index: tensor<4xindex>, %f8E4M3FN: tensor<4xf8E4M3FN>, %f8E5M2: tensor<4xf8E5M2>, %f16: tensor<4xf16>, %bf16: tensor<4xbf16>, %f32: tensor<4xf32>, %f64: tensor<4xf64>, %i1: tensor<4xi1>) {
  // CHECK: %r_i8 = tg.cmpne %i8, %i8 : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  // GENERIC: %r_i8 = "tg.cmpne"(%i8, %i8) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  %r_i8 = tg.cmpne %i8, %i8 : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  // CHECK: %r_i16 = tg.cmpne %i16, %i16 : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi1>
  // GENERIC: %r_i16 = "tg.cmpne"(%i16, %i16) : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi1>
  %r_i16 = tg.cmpne %i16, %i16 : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi1>
  // CHECK: %r_i32 = tg.cmpne %i32, %i32 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // GENERIC: %r_i32 = "tg.cmpne"(%i32, %i32) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r_i32 = tg.cmpne %i32, %i32 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK: %r_i64 = tg.cmpne %i64, %i64 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  // GENERIC: %r_i64 = "tg.cmpne"(%i64, %i64) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %r_i64 = tg.cmpne %i64, %i64 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  // CHECK: %r_ui8 = tg.cmpne %ui8, %ui8 : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  // GENERIC: %r_ui8 = "tg.cmpne"(%ui8, %ui8) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %r_ui8 = tg.cmpne %ui8, %ui8 : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  // CHECK: %r_ui16 = tg.cmpne %ui16, %ui16 : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xi1>
  // GENERIC: %r_ui16 = "tg.cmpne"(%ui16, %ui16) : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xi1>
  %r_ui16 = tg.cmpne %ui16, %ui16 : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xi1>
  // CHECK: %r_ui32 = tg.cmpne %ui32, %ui32 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  // GENERIC: %r_ui32 = "tg.cmpne"(%ui32, %ui32) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  %r_ui32 = tg.cmpne %ui32, %ui32 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  // CHECK: %r_ui64 = tg.cmpne %ui64, %ui64 : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
  // GENERIC: %r_ui64 = "tg.cmpne"(%ui64, %ui64) : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
  %r_ui64 = tg.cmpne %ui64, %ui64 : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
  // CHECK: %r_index = tg.cmpne %index, %index : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xi1>
  // GENERIC: %r_index = "tg.cmpne"(%index, %index) : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xi1>
  %r_index = tg.cmpne %index, %index : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xi1>
  // CHECK: %r_f8E4M3FN = tg.cmpne %f8E4M3FN, %f8E4M3FN : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  // GENERIC: %r_f8E4M3FN = "tg.cmpne"(%f8E4M3FN, %f8E4M3FN) : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  %r_f8E4M3FN = tg.cmpne %f8E4M3FN, %f8E4M3FN : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  // CHECK: %r_f8E5M2 = tg.cmpne %f8E5M2, %f8E5M2 : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  // GENERIC: %r_f8E5M2 = "tg.cmpne"(%f8E5M2, %f8E5M2) : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  %r_f8E5M2 = tg.cmpne %f8E5M2, %f8E5M2 : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  // CHECK: %r_f16 = tg.cmpne %f16, %f16 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
  // GENERIC: %r_f16 = "tg.cmpne"(%f16, %f16) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
  %r_f16 = tg.cmpne %f16, %f16 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
  // CHECK: %r_bf16 = tg.cmpne %bf16, %bf16 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  // GENERIC: %r_bf16 = "tg.cmpne"(%bf16, %bf16) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  %r_bf16 = tg.cmpne %bf16, %bf16 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  // CHECK: %r_f32 = tg.cmpne %f32, %f32 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: %r_f32 = "tg.cmpne"(%f32, %f32) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r_f32 = tg.cmpne %f32, %f32 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: %r_f64 = tg.cmpne %f64, %f64 : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  // GENERIC: %r_f64 = "tg.cmpne"(%f64, %f64) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  %r_f64 = tg.cmpne %f64, %f64 : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  // CHECK: %r_i1 = tg.cmpne %i1, %i1 : tensor<4xi1>
  // GENERIC: %r_i1 = "tg.cmpne"(%i1, %i1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r_i1 = tg.cmpne %i1, %i1 : tensor<4xi1>
  func.return
}

func.func @shapes(%a: tensor<4x1xf32>, %b: tensor<3xf32>, %c: tensor<f32>, %e: tensor<0x3xf32>, %m: tensor<3xf32, #tg.place<"CPU", global>>) {
  // CHECK: %broadcast = tg.cmpne %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  // GENERIC: %broadcast = "tg.cmpne"(%a, %b) : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  %broadcast = tg.cmpne %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  // CHECK: %scalar = tg.cmpne %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xi1>
  // GENERIC: %scalar = "tg.cmpne"(%c, %b) : (tensor<f32>, tensor<3xf32>) -> tensor<3xi1>
  %scalar = tg.cmpne %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xi1>
  // CHECK: %empty = tg.cmpne %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xi1>
  // GENERIC: %empty = "tg.cmpne"(%e, %b) : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xi1>
  %empty = tg.cmpne %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xi1>
  // CHECK: %read = tg.cmpne %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xi1, #tg.place<"CPU">>
  // GENERIC: %read = "tg.cmpne"(%m, %a) : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xi1, #tg.place<"CPU">>
  %read = tg.cmpne %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xi1, #tg.place<"CPU">>
  func.return
}

func.func @sharded(%s: tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, %u: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<f32>, %r: tensor<4xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.cmpne %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %same = "tg.cmpne"(%s, %u) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  %same = tg.cmpne %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %null = tg.cmpne %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %null = "tg.cmpne"(%s, %v) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  %null = tg.cmpne %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.cmpne %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %replicated = "tg.cmpne"(%r, %s) : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.cmpne %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" : tensor<index>
  %a = tg.param 1 (%n) : tensor<?xf32>
  %b = tg.param 2 (%n) : tensor<4x?xf32>
  // CHECK: %dynamic = tg.cmpne %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xi1>
  // GENERIC: %dynamic = "tg.cmpne"(%a, %b) : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xi1>
  %dynamic = tg.cmpne %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xi1>
  func.return
}
