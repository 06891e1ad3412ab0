// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%i8: tensor<4xi8>, %i16: tensor<4xi16>, %i32: tensor<4xi32>, %i64: tensor<4xi64>, %ui8: tensor<4xui8>, %ui16: tensor<4xui16>, %ui32: tensor<4xui32>, %ui64: tensor<4xui64>, %index: tensor<4xindex>, %f8E4M3FN: tensor<4xf8E4M3FN>, %f8E5M2: tensor<4xf8E5M2>, %f16: tensor<4xf16>, %bf16: tensor<4xbf16>, %f32: tensor<4xf32>, %f64: tensor<4xf64>, %i1: tensor<4xi1>) {
  // CHECK: %r_i8 = tg.add %i8, %i8 : tensor<4xi8>
  // GENERIC: %r_i8 = "tg.add"(%i8, %i8) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %r_i8 = tg.add %i8, %i8 : tensor<4xi8>
  // CHECK: %r_i16 = tg.add %i16, %i16 : tensor<4xi16>
  // GENERIC: %r_i16 = "tg.add"(%i16, %i16) : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  %r_i16 = tg.add %i16, %i16 : tensor<4xi16>
  // CHECK: %r_i32 = tg.add %i32, %i32 : tensor<4xi32>
  // GENERIC: %r_i32 = "tg.add"(%i32, %i32) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r_i32 = tg.add %i32, %i32 : tensor<4xi32>
  // CHECK: %r_i64 = tg.add %i64, %i64 : tensor<4xi64>
  // GENERIC: %r_i64 = "tg.add"(%i64, %i64) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %r_i64 = tg.add %i64, %i64 : tensor<4xi64>
  // CHECK: %r_ui8 = tg.add %ui8, %ui8 : tensor<4xui8>
  // GENERIC: %r_ui8 = "tg.add"(%ui8, %ui8) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %r_ui8 = tg.add %ui8, %ui8 : tensor<4xui8>
  // CHECK: %r_ui16 = tg.add %ui16, %ui16 : tensor<4xui16>
  // GENERIC: %r_ui16 = "tg.add"(%ui16, %ui16) : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xui16>
  %r_ui16 = tg.add %ui16, %ui16 : tensor<4xui16>
  // CHECK: %r_ui32 = tg.add %ui32, %ui32 : tensor<4xui32>
  // GENERIC: %r_ui32 = "tg.add"(%ui32, %ui32) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %r_ui32 = tg.add %ui32, %ui32 : tensor<4xui32>
  // CHECK: %r_ui64 = tg.add %ui64, %ui64 : tensor<4xui64>
  // GENERIC: %r_ui64 = "tg.add"(%ui64, %ui64) : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xui64>
  %r_ui64 = tg.add %ui64, %ui64 : tensor<4xui64>
  // CHECK: %r_index = tg.add %index, %index : tensor<4xindex>
  // GENERIC: %r_index = "tg.add"(%index, %index) : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xindex>
  %r_index = tg.add %index, %index : tensor<4xindex>
  // CHECK: %r_f8E4M3FN = tg.add %f8E4M3FN, %f8E4M3FN : tensor<4xf8E4M3FN>
  // GENERIC: %r_f8E4M3FN = "tg.add"(%f8E4M3FN, %f8E4M3FN) : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  %r_f8E4M3FN = tg.add %f8E4M3FN, %f8E4M3FN : tensor<4xf8E4M3FN>
  // CHECK: %r_f8E5M2 = tg.add %f8E5M2, %f8E5M2 : tensor<4xf8E5M2>
  // GENERIC: %r_f8E5M2 = "tg.add"(%f8E5M2, %f8E5M2) : (tensor<4xf8E5M2>, tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  %r_f8E5M2 = tg.add %f8E5M2, %f8E5M2 : tensor<4xf8E5M2>
  // CHECK: %r_f16 = tg.add %f16, %f16 : tensor<4xf16>
  // GENERIC: %r_f16 = "tg.add"(%f16, %f16) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %r_f16 = tg.add %f16, %f16 : tensor<4xf16>
  // CHECK: %r_bf16 = tg.add %bf16, %bf16 : tensor<4xbf16>
  // GENERIC: %r_bf16 = "tg.add"(%bf16, %bf16) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %r_bf16 = tg.add %bf16, %bf16 : tensor<4xbf16>
  // CHECK: %r_f32 = tg.add %f32, %f32 : tensor<4xf32>
  // GENERIC: %r_f32 = "tg.add"(%f32, %f32) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r_f32 = tg.add %f32, %f32 : tensor<4xf32>
  // CHECK: %r_f64 = tg.add %f64, %f64 : tensor<4xf64>
  // GENERIC: %r_f64 = "tg.add"(%f64, %f64) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %r_f64 = tg.add %f64, %f64 : tensor<4xf64>
  // CHECK: %r_i1 = tg.add %i1, %i1 : tensor<4xi1>
  // GENERIC: %r_i1 = "tg.add"(%i1, %i1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r_i1 = tg.add %i1, %i1 : tensor<4xi1>
  func.return
}

func.func @shapes(%a: tensor<4x1xf32>, %b: tensor<3xf32>, %c: tensor<f32>, %e: tensor<0x3xf32>, %m: tensor<3xf32, #tg.place<"CPU", global>>) {
  // CHECK: %broadcast = tg.add %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // GENERIC: %broadcast = "tg.add"(%a, %b) : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %broadcast = tg.add %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: %scalar = tg.add %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // GENERIC: %scalar = "tg.add"(%c, %b) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %scalar = tg.add %c, %b : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %empty = tg.add %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  // GENERIC: %empty = "tg.add"(%e, %b) : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  %empty = tg.add %e, %b : (tensor<0x3xf32>, tensor<3xf32>) -> tensor<0x3xf32>
  // CHECK: %read = tg.add %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.add"(%m, %a) : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  %read = tg.add %m, %a : (tensor<3xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> tensor<4x3xf32, #tg.place<"CPU">>
  func.return
}

func.func @sharded(%s: tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, %u: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<f32>, %r: tensor<4xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.add %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %same = "tg.add"(%s, %u) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %same = tg.add %s, %u : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %null = tg.add %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %null = "tg.add"(%s, %v) : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %null = tg.add %s, %v : (tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.add %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %replicated = "tg.add"(%r, %s) : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.add %r, %s : (tensor<4xf32, #tg.place<["A", "B"]>>, tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" : tensor<index>
  %a = tg.param 1 (%n) : tensor<?xf32>
  %b = tg.param 2 (%n) : tensor<4x?xf32>
  // CHECK: %dynamic = tg.add %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  // GENERIC: %dynamic = "tg.add"(%a, %b) : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %dynamic = tg.add %a, %b : (tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  func.return
}
