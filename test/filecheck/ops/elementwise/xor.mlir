// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%i8: tensor<4xi8>, %i16: tensor<4xi16>, %i32: tensor<4xi32>, %i64: tensor<4xi64>, %ui8: tensor<4xui8>, %ui16: tensor<4xui16>, %ui32: tensor<4xui32>, %ui64: tensor<4xui64>, %index: tensor<4xindex>, %i1: tensor<4xi1>) {
  // CHECK: %r_i8 = tg.xor %i8, %i8 : tensor<4xi8>
  // GENERIC: %r_i8 = "tg.xor"(%i8, %i8) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %r_i8 = tg.xor %i8, %i8 : tensor<4xi8>
  // CHECK: %r_i16 = tg.xor %i16, %i16 : tensor<4xi16>
  // GENERIC: %r_i16 = "tg.xor"(%i16, %i16) : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  %r_i16 = tg.xor %i16, %i16 : tensor<4xi16>
  // CHECK: %r_i32 = tg.xor %i32, %i32 : tensor<4xi32>
  // GENERIC: %r_i32 = "tg.xor"(%i32, %i32) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r_i32 = tg.xor %i32, %i32 : tensor<4xi32>
  // CHECK: %r_i64 = tg.xor %i64, %i64 : tensor<4xi64>
  // GENERIC: %r_i64 = "tg.xor"(%i64, %i64) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %r_i64 = tg.xor %i64, %i64 : tensor<4xi64>
  // CHECK: %r_ui8 = tg.xor %ui8, %ui8 : tensor<4xui8>
  // GENERIC: %r_ui8 = "tg.xor"(%ui8, %ui8) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %r_ui8 = tg.xor %ui8, %ui8 : tensor<4xui8>
  // CHECK: %r_ui16 = tg.xor %ui16, %ui16 : tensor<4xui16>
  // GENERIC: %r_ui16 = "tg.xor"(%ui16, %ui16) : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xui16>
  %r_ui16 = tg.xor %ui16, %ui16 : tensor<4xui16>
  // CHECK: %r_ui32 = tg.xor %ui32, %ui32 : tensor<4xui32>
  // GENERIC: %r_ui32 = "tg.xor"(%ui32, %ui32) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %r_ui32 = tg.xor %ui32, %ui32 : tensor<4xui32>
  // CHECK: %r_ui64 = tg.xor %ui64, %ui64 : tensor<4xui64>
  // GENERIC: %r_ui64 = "tg.xor"(%ui64, %ui64) : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xui64>
  %r_ui64 = tg.xor %ui64, %ui64 : tensor<4xui64>
  // CHECK: %r_index = tg.xor %index, %index : tensor<4xindex>
  // GENERIC: %r_index = "tg.xor"(%index, %index) : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xindex>
  %r_index = tg.xor %index, %index : tensor<4xindex>
  // CHECK: %r_i1 = tg.xor %i1, %i1 : tensor<4xi1>
  // GENERIC: %r_i1 = "tg.xor"(%i1, %i1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r_i1 = tg.xor %i1, %i1 : tensor<4xi1>
  func.return
}

func.func @shapes(%a: tensor<4x1xi32>, %b: tensor<3xi32>, %c: tensor<i32>, %e: tensor<0x3xi32>, %m: tensor<3xi32, #tg.place<"CPU", global>>) {
  // CHECK: %broadcast = tg.xor %a, %b : (tensor<4x1xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  // GENERIC: %broadcast = "tg.xor"(%a, %b) : (tensor<4x1xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  %broadcast = tg.xor %a, %b : (tensor<4x1xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  // CHECK: %scalar = tg.xor %c, %b : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // GENERIC: %scalar = "tg.xor"(%c, %b) : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  %scalar = tg.xor %c, %b : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: %empty = tg.xor %e, %b : (tensor<0x3xi32>, tensor<3xi32>) -> tensor<0x3xi32>
  // GENERIC: %empty = "tg.xor"(%e, %b) : (tensor<0x3xi32>, tensor<3xi32>) -> tensor<0x3xi32>
  %empty = tg.xor %e, %b : (tensor<0x3xi32>, tensor<3xi32>) -> tensor<0x3xi32>
  // CHECK: %read = tg.xor %m, %a : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<4x1xi32>) -> tensor<4x3xi32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.xor"(%m, %a) : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<4x1xi32>) -> tensor<4x3xi32, #tg.place<"CPU">>
  %read = tg.xor %m, %a : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<4x1xi32>) -> tensor<4x3xi32, #tg.place<"CPU">>
  func.return
}

func.func @sharded(%s: tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, %u: tensor<4xi32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<i32>, %r: tensor<4xi32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.xor %s, %u : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<4xi32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %same = "tg.xor"(%s, %u) : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<4xi32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  %same = tg.xor %s, %u : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<4xi32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %null = tg.xor %s, %v : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<i32>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %null = "tg.xor"(%s, %v) : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<i32>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  %null = tg.xor %s, %v : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<i32>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.xor %r, %s : (tensor<4xi32, #tg.place<["A", "B"]>>, tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %replicated = "tg.xor"(%r, %s) : (tensor<4xi32, #tg.place<["A", "B"]>>, tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.xor %r, %s : (tensor<4xi32, #tg.place<["A", "B"]>>, tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" : tensor<index>
  %a = tg.param 1 (%n) : tensor<?xi32>
  %b = tg.param 2 (%n) : tensor<4x?xi32>
  // CHECK: %dynamic = tg.xor %a, %b : (tensor<?xi32>, tensor<4x?xi32>) -> tensor<4x?xi32>
  // GENERIC: %dynamic = "tg.xor"(%a, %b) : (tensor<?xi32>, tensor<4x?xi32>) -> tensor<4x?xi32>
  %dynamic = tg.xor %a, %b : (tensor<?xi32>, tensor<4x?xi32>) -> tensor<4x?xi32>
  func.return
}
