// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%x: tensor<4xf32>, %i: tensor<4xi8>) {
  // CHECK: %f_i8 = tg.cast %x to i8 : tensor<4xf32> -> tensor<4xi8>
  // GENERIC: %f_i8 = "tg.cast"(%x) <{dtype = i8}> : (tensor<4xf32>) -> tensor<4xi8>
  %f_i8 = tg.cast %x to i8 : tensor<4xf32> -> tensor<4xi8>
  // CHECK: %f_i16 = tg.cast %x to i16 : tensor<4xf32> -> tensor<4xi16>
  // GENERIC: %f_i16 = "tg.cast"(%x) <{dtype = i16}> : (tensor<4xf32>) -> tensor<4xi16>
  %f_i16 = tg.cast %x to i16 : tensor<4xf32> -> tensor<4xi16>
  // CHECK: %f_i32 = tg.cast %x to i32 : tensor<4xf32> -> tensor<4xi32>
  // GENERIC: %f_i32 = "tg.cast"(%x) <{dtype = i32}> : (tensor<4xf32>) -> tensor<4xi32>
  %f_i32 = tg.cast %x to i32 : tensor<4xf32> -> tensor<4xi32>
  // CHECK: %f_i64 = tg.cast %x to i64 : tensor<4xf32> -> tensor<4xi64>
  // GENERIC: %f_i64 = "tg.cast"(%x) <{dtype = i64}> : (tensor<4xf32>) -> tensor<4xi64>
  %f_i64 = tg.cast %x to i64 : tensor<4xf32> -> tensor<4xi64>
  // CHECK: %f_ui8 = tg.cast %x to ui8 : tensor<4xf32> -> tensor<4xui8>
  // GENERIC: %f_ui8 = "tg.cast"(%x) <{dtype = ui8}> : (tensor<4xf32>) -> tensor<4xui8>
  %f_ui8 = tg.cast %x to ui8 : tensor<4xf32> -> tensor<4xui8>
  // CHECK: %f_ui16 = tg.cast %x to ui16 : tensor<4xf32> -> tensor<4xui16>
  // GENERIC: %f_ui16 = "tg.cast"(%x) <{dtype = ui16}> : (tensor<4xf32>) -> tensor<4xui16>
  %f_ui16 = tg.cast %x to ui16 : tensor<4xf32> -> tensor<4xui16>
  // CHECK: %f_ui32 = tg.cast %x to ui32 : tensor<4xf32> -> tensor<4xui32>
  // GENERIC: %f_ui32 = "tg.cast"(%x) <{dtype = ui32}> : (tensor<4xf32>) -> tensor<4xui32>
  %f_ui32 = tg.cast %x to ui32 : tensor<4xf32> -> tensor<4xui32>
  // CHECK: %f_ui64 = tg.cast %x to ui64 : tensor<4xf32> -> tensor<4xui64>
  // GENERIC: %f_ui64 = "tg.cast"(%x) <{dtype = ui64}> : (tensor<4xf32>) -> tensor<4xui64>
  %f_ui64 = tg.cast %x to ui64 : tensor<4xf32> -> tensor<4xui64>
  // CHECK: %f_index = tg.cast %x to index : tensor<4xf32> -> tensor<4xindex>
  // GENERIC: %f_index = "tg.cast"(%x) <{dtype = index}> : (tensor<4xf32>) -> tensor<4xindex>
  %f_index = tg.cast %x to index : tensor<4xf32> -> tensor<4xindex>
  // CHECK: %f_i1 = tg.cast %x to i1 : tensor<4xf32> -> tensor<4xi1>
  // GENERIC: %f_i1 = "tg.cast"(%x) <{dtype = i1}> : (tensor<4xf32>) -> tensor<4xi1>
  %f_i1 = tg.cast %x to i1 : tensor<4xf32> -> tensor<4xi1>
  // CHECK: %f_f8E4M3FN = tg.cast %x to f8E4M3FN : tensor<4xf32> -> tensor<4xf8E4M3FN>
  // GENERIC: %f_f8E4M3FN = "tg.cast"(%x) <{dtype = f8E4M3FN}> : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %f_f8E4M3FN = tg.cast %x to f8E4M3FN : tensor<4xf32> -> tensor<4xf8E4M3FN>
  // CHECK: %f_f8E5M2 = tg.cast %x to f8E5M2 : tensor<4xf32> -> tensor<4xf8E5M2>
  // GENERIC: %f_f8E5M2 = "tg.cast"(%x) <{dtype = f8E5M2}> : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %f_f8E5M2 = tg.cast %x to f8E5M2 : tensor<4xf32> -> tensor<4xf8E5M2>
  // CHECK: %f_f16 = tg.cast %x to f16 : tensor<4xf32> -> tensor<4xf16>
  // GENERIC: %f_f16 = "tg.cast"(%x) <{dtype = f16}> : (tensor<4xf32>) -> tensor<4xf16>
  %f_f16 = tg.cast %x to f16 : tensor<4xf32> -> tensor<4xf16>
  // CHECK: %f_bf16 = tg.cast %x to bf16 : tensor<4xf32> -> tensor<4xbf16>
  // GENERIC: %f_bf16 = "tg.cast"(%x) <{dtype = bf16}> : (tensor<4xf32>) -> tensor<4xbf16>
  %f_bf16 = tg.cast %x to bf16 : tensor<4xf32> -> tensor<4xbf16>
  // CHECK: %f_f32 = tg.cast %x to f32 : tensor<4xf32>
  // GENERIC: %f_f32 = "tg.cast"(%x) <{dtype = f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %f_f32 = tg.cast %x to f32 : tensor<4xf32>
  // CHECK: %f_f64 = tg.cast %x to f64 : tensor<4xf32> -> tensor<4xf64>
  // GENERIC: %f_f64 = "tg.cast"(%x) <{dtype = f64}> : (tensor<4xf32>) -> tensor<4xf64>
  %f_f64 = tg.cast %x to f64 : tensor<4xf32> -> tensor<4xf64>
  // CHECK: %i_i8 = tg.cast %i to i8 : tensor<4xi8>
  // GENERIC: %i_i8 = "tg.cast"(%i) <{dtype = i8}> : (tensor<4xi8>) -> tensor<4xi8>
  %i_i8 = tg.cast %i to i8 : tensor<4xi8>
  // CHECK: %i_i16 = tg.cast %i to i16 : tensor<4xi8> -> tensor<4xi16>
  // GENERIC: %i_i16 = "tg.cast"(%i) <{dtype = i16}> : (tensor<4xi8>) -> tensor<4xi16>
  %i_i16 = tg.cast %i to i16 : tensor<4xi8> -> tensor<4xi16>
  // CHECK: %i_i32 = tg.cast %i to i32 : tensor<4xi8> -> tensor<4xi32>
  // GENERIC: %i_i32 = "tg.cast"(%i) <{dtype = i32}> : (tensor<4xi8>) -> tensor<4xi32>
  %i_i32 = tg.cast %i to i32 : tensor<4xi8> -> tensor<4xi32>
  // CHECK: %i_i64 = tg.cast %i to i64 : tensor<4xi8> -> tensor<4xi64>
  // GENERIC: %i_i64 = "tg.cast"(%i) <{dtype = i64}> : (tensor<4xi8>) -> tensor<4xi64>
  %i_i64 = tg.cast %i to i64 : tensor<4xi8> -> tensor<4xi64>
  // CHECK: %i_ui8 = tg.cast %i to ui8 : tensor<4xi8> -> tensor<4xui8>
  // GENERIC: %i_ui8 = "tg.cast"(%i) <{dtype = ui8}> : (tensor<4xi8>) -> tensor<4xui8>
  %i_ui8 = tg.cast %i to ui8 : tensor<4xi8> -> tensor<4xui8>
  // CHECK: %i_ui16 = tg.cast %i to ui16 : tensor<4xi8> -> tensor<4xui16>
  // GENERIC: %i_ui16 = "tg.cast"(%i) <{dtype = ui16}> : (tensor<4xi8>) -> tensor<4xui16>
  %i_ui16 = tg.cast %i to ui16 : tensor<4xi8> -> tensor<4xui16>
  // CHECK: %i_ui32 = tg.cast %i to ui32 : tensor<4xi8> -> tensor<4xui32>
  // GENERIC: %i_ui32 = "tg.cast"(%i) <{dtype = ui32}> : (tensor<4xi8>) -> tensor<4xui32>
  %i_ui32 = tg.cast %i to ui32 : tensor<4xi8> -> tensor<4xui32>
  // CHECK: %i_ui64 = tg.cast %i to ui64 : tensor<4xi8> -> tensor<4xui64>
  // GENERIC: %i_ui64 = "tg.cast"(%i) <{dtype = ui64}> : (tensor<4xi8>) -> tensor<4xui64>
  %i_ui64 = tg.cast %i to ui64 : tensor<4xi8> -> tensor<4xui64>
  // CHECK: %i_index = tg.cast %i to index : tensor<4xi8> -> tensor<4xindex>
  // GENERIC: %i_index = "tg.cast"(%i) <{dtype = index}> : (tensor<4xi8>) -> tensor<4xindex>
  %i_index = tg.cast %i to index : tensor<4xi8> -> tensor<4xindex>
  // CHECK: %i_i1 = tg.cast %i to i1 : tensor<4xi8> -> tensor<4xi1>
  // GENERIC: %i_i1 = "tg.cast"(%i) <{dtype = i1}> : (tensor<4xi8>) -> tensor<4xi1>
  %i_i1 = tg.cast %i to i1 : tensor<4xi8> -> tensor<4xi1>
  // CHECK: %i_f8E4M3FN = tg.cast %i to f8E4M3FN : tensor<4xi8> -> tensor<4xf8E4M3FN>
  // GENERIC: %i_f8E4M3FN = "tg.cast"(%i) <{dtype = f8E4M3FN}> : (tensor<4xi8>) -> tensor<4xf8E4M3FN>
  %i_f8E4M3FN = tg.cast %i to f8E4M3FN : tensor<4xi8> -> tensor<4xf8E4M3FN>
  // CHECK: %i_f8E5M2 = tg.cast %i to f8E5M2 : tensor<4xi8> -> tensor<4xf8E5M2>
  // GENERIC: %i_f8E5M2 = "tg.cast"(%i) <{dtype = f8E5M2}> : (tensor<4xi8>) -> tensor<4xf8E5M2>
  %i_f8E5M2 = tg.cast %i to f8E5M2 : tensor<4xi8> -> tensor<4xf8E5M2>
  // CHECK: %i_f16 = tg.cast %i to f16 : tensor<4xi8> -> tensor<4xf16>
  // GENERIC: %i_f16 = "tg.cast"(%i) <{dtype = f16}> : (tensor<4xi8>) -> tensor<4xf16>
  %i_f16 = tg.cast %i to f16 : tensor<4xi8> -> tensor<4xf16>
  // CHECK: %i_bf16 = tg.cast %i to bf16 : tensor<4xi8> -> tensor<4xbf16>
  // GENERIC: %i_bf16 = "tg.cast"(%i) <{dtype = bf16}> : (tensor<4xi8>) -> tensor<4xbf16>
  %i_bf16 = tg.cast %i to bf16 : tensor<4xi8> -> tensor<4xbf16>
  // CHECK: %i_f32 = tg.cast %i to f32 : tensor<4xi8> -> tensor<4xf32>
  // GENERIC: %i_f32 = "tg.cast"(%i) <{dtype = f32}> : (tensor<4xi8>) -> tensor<4xf32>
  %i_f32 = tg.cast %i to f32 : tensor<4xi8> -> tensor<4xf32>
  // CHECK: %i_f64 = tg.cast %i to f64 : tensor<4xi8> -> tensor<4xf64>
  // GENERIC: %i_f64 = "tg.cast"(%i) <{dtype = f64}> : (tensor<4xi8>) -> tensor<4xf64>
  %i_f64 = tg.cast %i to f64 : tensor<4xi8> -> tensor<4xf64>
  func.return
}

func.func @shapes(%c: tensor<f32>, %m: tensor<4xf32, #tg.place<"CPU", global>>, %s: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %d: tensor<?xf32>) {
  // CHECK: %scalar = tg.cast %c to i32 : tensor<f32> -> tensor<i32>
  // GENERIC: %scalar = "tg.cast"(%c) <{dtype = i32}> : (tensor<f32>) -> tensor<i32>
  %scalar = tg.cast %c to i32 : tensor<f32> -> tensor<i32>
  // CHECK: %read = tg.cast %m to i32 : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xi32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.cast"(%m) <{dtype = i32}> : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xi32, #tg.place<"CPU">>
  %read = tg.cast %m to i32 : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xi32, #tg.place<"CPU">>
  // CHECK: %sharded = tg.cast %s to f16 : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf16, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.cast"(%s) <{dtype = f16}> : (tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf16, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.cast %s to f16 : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf16, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %dynamic = tg.cast %d to i1 : tensor<?xf32> -> tensor<?xi1>
  // GENERIC: %dynamic = "tg.cast"(%d) <{dtype = i1}> : (tensor<?xf32>) -> tensor<?xi1>
  %dynamic = tg.cast %d to i1 : tensor<?xf32> -> tensor<?xi1>
  func.return
}
