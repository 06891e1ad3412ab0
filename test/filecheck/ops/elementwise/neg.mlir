// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%i8: tensor<4xi8>, %i16: tensor<4xi16>, %i32: tensor<4xi32>, %i64: tensor<4xi64>, %ui8: tensor<4xui8>, %ui16: tensor<4xui16>, %ui32: tensor<4xui32>, %ui64: tensor<4xui64>, %index: tensor<4xindex>, %f8E4M3FN: tensor<4xf8E4M3FN>, %f8E5M2: tensor<4xf8E5M2>, %f16: tensor<4xf16>, %bf16: tensor<4xbf16>, %f32: tensor<4xf32>, %f64: tensor<4xf64>) {
  // CHECK: %r_i8 = tg.neg %i8 : tensor<4xi8>
  // GENERIC: %r_i8 = "tg.neg"(%i8) : (tensor<4xi8>) -> tensor<4xi8>
  %r_i8 = tg.neg %i8 : tensor<4xi8>
  // CHECK: %r_i16 = tg.neg %i16 : tensor<4xi16>
  // GENERIC: %r_i16 = "tg.neg"(%i16) : (tensor<4xi16>) -> tensor<4xi16>
  %r_i16 = tg.neg %i16 : tensor<4xi16>
  // CHECK: %r_i32 = tg.neg %i32 : tensor<4xi32>
  // GENERIC: %r_i32 = "tg.neg"(%i32) : (tensor<4xi32>) -> tensor<4xi32>
  %r_i32 = tg.neg %i32 : tensor<4xi32>
  // CHECK: %r_i64 = tg.neg %i64 : tensor<4xi64>
  // GENERIC: %r_i64 = "tg.neg"(%i64) : (tensor<4xi64>) -> tensor<4xi64>
  %r_i64 = tg.neg %i64 : tensor<4xi64>
  // CHECK: %r_ui8 = tg.neg %ui8 : tensor<4xui8>
  // GENERIC: %r_ui8 = "tg.neg"(%ui8) : (tensor<4xui8>) -> tensor<4xui8>
  %r_ui8 = tg.neg %ui8 : tensor<4xui8>
  // CHECK: %r_ui16 = tg.neg %ui16 : tensor<4xui16>
  // GENERIC: %r_ui16 = "tg.neg"(%ui16) : (tensor<4xui16>) -> tensor<4xui16>
  %r_ui16 = tg.neg %ui16 : tensor<4xui16>
  // CHECK: %r_ui32 = tg.neg %ui32 : tensor<4xui32>
  // GENERIC: %r_ui32 = "tg.neg"(%ui32) : (tensor<4xui32>) -> tensor<4xui32>
  %r_ui32 = tg.neg %ui32 : tensor<4xui32>
  // CHECK: %r_ui64 = tg.neg %ui64 : tensor<4xui64>
  // GENERIC: %r_ui64 = "tg.neg"(%ui64) : (tensor<4xui64>) -> tensor<4xui64>
  %r_ui64 = tg.neg %ui64 : tensor<4xui64>
  // CHECK: %r_index = tg.neg %index : tensor<4xindex>
  // GENERIC: %r_index = "tg.neg"(%index) : (tensor<4xindex>) -> tensor<4xindex>
  %r_index = tg.neg %index : tensor<4xindex>
  // CHECK: %r_f8E4M3FN = tg.neg %f8E4M3FN : tensor<4xf8E4M3FN>
  // GENERIC: %r_f8E4M3FN = "tg.neg"(%f8E4M3FN) : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  %r_f8E4M3FN = tg.neg %f8E4M3FN : tensor<4xf8E4M3FN>
  // CHECK: %r_f8E5M2 = tg.neg %f8E5M2 : tensor<4xf8E5M2>
  // GENERIC: %r_f8E5M2 = "tg.neg"(%f8E5M2) : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  %r_f8E5M2 = tg.neg %f8E5M2 : tensor<4xf8E5M2>
  // CHECK: %r_f16 = tg.neg %f16 : tensor<4xf16>
  // GENERIC: %r_f16 = "tg.neg"(%f16) : (tensor<4xf16>) -> tensor<4xf16>
  %r_f16 = tg.neg %f16 : tensor<4xf16>
  // CHECK: %r_bf16 = tg.neg %bf16 : tensor<4xbf16>
  // GENERIC: %r_bf16 = "tg.neg"(%bf16) : (tensor<4xbf16>) -> tensor<4xbf16>
  %r_bf16 = tg.neg %bf16 : tensor<4xbf16>
  // CHECK: %r_f32 = tg.neg %f32 : tensor<4xf32>
  // GENERIC: %r_f32 = "tg.neg"(%f32) : (tensor<4xf32>) -> tensor<4xf32>
  %r_f32 = tg.neg %f32 : tensor<4xf32>
  // CHECK: %r_f64 = tg.neg %f64 : tensor<4xf64>
  // GENERIC: %r_f64 = "tg.neg"(%f64) : (tensor<4xf64>) -> tensor<4xf64>
  %r_f64 = tg.neg %f64 : tensor<4xf64>
  func.return
}

func.func @shapes(%c: tensor<f64>, %m: tensor<4xf64, #tg.place<"CPU", global>>, %d: tensor<?xf64>, %s: tensor<4xf64, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %scalar = tg.neg %c : tensor<f64>
  // GENERIC: %scalar = "tg.neg"(%c) : (tensor<f64>) -> tensor<f64>
  %scalar = tg.neg %c : tensor<f64>
  // CHECK: %read = tg.neg %m : tensor<4xf64, #tg.place<"CPU", global>> -> tensor<4xf64, #tg.place<"CPU">>
  // GENERIC: %read = "tg.neg"(%m) : (tensor<4xf64, #tg.place<"CPU", global>>) -> tensor<4xf64, #tg.place<"CPU">>
  %read = tg.neg %m : tensor<4xf64, #tg.place<"CPU", global>> -> tensor<4xf64, #tg.place<"CPU">>
  // CHECK: %dynamic = tg.neg %d : tensor<?xf64>
  // GENERIC: %dynamic = "tg.neg"(%d) : (tensor<?xf64>) -> tensor<?xf64>
  %dynamic = tg.neg %d : tensor<?xf64>
  // CHECK: %sharded = tg.neg %s : tensor<4xf64, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.neg"(%s) : (tensor<4xf64, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf64, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.neg %s : tensor<4xf64, #tg.place<["A", "B"], axis = 0>>
  func.return
}
