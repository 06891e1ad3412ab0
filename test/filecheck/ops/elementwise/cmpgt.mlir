// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%i8: tensor<4xi8>, %i16: tensor<4xi16>, %i32: tensor<4xi32>, %i64: tensor<4xi64>, %ui8: tensor<4xui8>, %ui16: tensor<4xui16>, %ui32: tensor<4xui32>, %ui64: tensor<4xui64>, %index: tensor<4xindex>, %f8E4M3FN: tensor<4xf8E4M3FN>, %f8E5M2: tensor<4xf8E5M2>, %f16: tensor<4xf16>, %bf16: tensor<4xbf16>, %f32: tensor<4xf32>, %f64: tensor<4xf64>, %i1: tensor<4xi1>) {
  // CHECK: %r_i8 = tg.cmpgt %i8, %i8 : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  // GENERIC: %r_i8 = "tg.cmpgt"(%i8, %i8) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  %r_i8 = tg.cmpgt %i8, %i8 : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  // CHECK: %r_i16 = tg.cmpgt %i16, %i16 : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi1>
  // GENERIC: %r_i16 = "tg.cmpgt"(%i16, %i16) : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi1>
  %r_i16 = tg.cmpgt %i16, %i16 : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi1>
  // CHECK: %r_i32 = tg.cmpgt %i32, %i32 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // GENERIC: %r_i32 = "tg.cmpgt"(%i32, %i32) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r_i32 = tg.cmpgt %i32, %i32 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK: %r_i64 = tg.cmpgt %i64, %i64 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  // GENERIC: %r_i64 = "tg.cmpgt"(%i64, %i64) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %r_i64 = tg.cmpgt %i64, %i64 : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  // CHECK: %r_ui8 = tg.cmpgt %ui8, %ui8 : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  // GENERIC: %r_ui8 = "tg.cmpgt"(%ui8, %ui8) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %r_ui8 = tg.cmpgt %ui8, %ui8 : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  // CHECK: %r_ui16 = tg.cmpgt %ui16, %ui16 : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xi1>
  // GENERIC: %r_ui16 = "tg.cmpgt"(%ui16, %ui16) : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xi1>
  %r_ui16 = tg.cmpgt %ui16, %ui16 : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xi1>
  // CHECK: %r_ui32 = tg.cmpgt %ui32, %ui32 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  // GENERIC: %r_ui32 = "tg.cmpgt"(%ui32, %ui32) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  %r_ui32 = tg.cmpgt %ui32, %ui32 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  // CHECK: %r_ui64 = tg.cmpgt %ui64, %ui64 : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
  // GENERIC: %r_ui64 = "tg.cmpgt"(%ui64, %ui64) : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
  %r_ui64 = tg.cmpgt %ui64, %ui64 : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
  // CHECK: %r_index = tg.cmpgt %index, %index : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xi1>
  // GENERIC: %r_index = "tg.cmpgt"(%index, %index) : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xi1>
  %r_index = tg.cmpgt %index, %index : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xi1>
  // CHECK: %r_f8E4M3FN = tg.cmpgt %f8E4M3FN, %f8E4M3FN : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  // GENERIC: %r_f8E4M3FN = "tg.cmpgt"(%f8E4M3FN, %f8E4M3FN) : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  %r_f8E4M3FN = tg.cmpgt %f8E4M3FN, %f8E4M3FN : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  // CHECK: %r_f8E5M2 = tg.cmpgt %f8E5M2, %f8E5M2 : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  // GENERIC: %r_f8E5M2 = "tg.cmpgt"(%f8E5M2, %f8E5M2) : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  %r_f8E5M2 = tg.cmpgt %f8E5M2, %f8E5M2 : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xi1>
  // CHECK: %r_f16 = tg.cmpgt %f16, %f16 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
  // GENERIC: %r_f16 = "tg.cmpgt"(%f16, %f16) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
  %r_f16 = tg.cmpgt %f16, %f16 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
  // CHECK: %r_bf16 = tg.cmpgt %bf16, %bf16 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  // GENERIC: %r_bf16 = "tg.cmpgt"(%bf16, %bf16) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  %r_bf16 = tg.cmpgt %bf16, %bf16 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  // CHECK: %r_f32 = tg.cmpgt %f32, %f32 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: %r_f32 = "tg.cmpgt"(%f32, %f32) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %r_f32 = tg.cmpgt %f32, %f32 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: %r_f64 = tg.cmpgt %f64, %f64 : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  // GENERIC: %r_f64 = "tg.cmpgt"(%f64, %f64) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  %r_f64 = tg.cmpgt %f64, %f64 : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  // CHECK: %r_i1 = tg.cmpgt %i1, %i1 : tensor<4xi1>
  // GENERIC: %r_i1 = "tg.cmpgt"(%i1, %i1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r_i1 = tg.cmpgt %i1, %i1 : tensor<4xi1>
  func.return
}

func.func @shapes(%a: tensor<4x1xf32>, %b: tensor<3xf32>, %c: tensor<f32>, %e: tensor<0x3xf32>, %m: tensor<3xf32, #tg.place<"CPU", global>>) {
  // CHECK: %broadcast = tg.cmpgt %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  // GENERIC: %broadcast = "tg.cmpgt"(%a, %b) : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  %broadcast = tg.cmpgt %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xi1>
  // CHECK: %scalar = tg.cmpgt %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xi1>
  // GENERIC: %scalar = "tg.cmpgt"(%c, %b) : (tensor<f32>, tensor<3xf32>) -> tensor<3xi1>
  %scalar = tg.cmpgt %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xi1>
  // CHECK: %empty = tg.cmpgt %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xi1>
  // GENERIC: %empty = "tg.cmpgt"(%e, %b) : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xi1>
  %empty = tg.cmpgt %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xi1>
  // CHECK: %read = tg.cmpgt %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xi1, #tg.place<"CPU">>
  // GENERIC: %read = "tg.cmpgt"(%m, %a) : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xi1, #tg.place<"CPU">>
  %read = tg.cmpgt %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xi1, #tg.place<"CPU">>
  func.return
}

func.func @sharded(%s: tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, %u: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<f32>, %r: tensor<4xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.cmpgt %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %same = "tg.cmpgt"(%s, %u) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  %same = tg.cmpgt %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %null = tg.cmpgt %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %null = "tg.cmpgt"(%s, %v) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  %null = tg.cmpgt %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.cmpgt %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %replicated = "tg.cmpgt"(%r, %s) : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.cmpgt %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi1, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" : tensor<index>
  %a = tg.param 1 (%n) : tensor<?xf32>
  %b = tg.param 2 (%n) : tensor<4x?xf32>
  // CHECK: %dynamic = tg.cmpgt %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xi1>
  // GENERIC: %dynamic = "tg.cmpgt"(%a, %b) : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xi1>
  %dynamic = tg.cmpgt %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xi1>
  func.return
}
