// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%i8: tensor<4xi8>, %i16: tensor<4xi16>, %i32: tensor<4xi32>, %i64: tensor<4xi64>, %ui8: tensor<4xui8>, %ui16: tensor<4xui16>, %ui32: tensor<4xui32>, %ui64: tensor<4xui64>, %index: tensor<4xindex>) {
  // CHECK: %r_i8 = tg.shr %i8, %i8 : tensor<4xi8>
  // GENERIC: %r_i8 = "tg.shr"(%i8, %i8) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %r_i8 = tg.shr %i8, %i8 : tensor<4xi8>
  // CHECK: %r_i16 = tg.shr %i16, %i16 : tensor<4xi16>
  // GENERIC: %r_i16 = "tg.shr"(%i16, %i16) : (tensor<4xi16>, tensor<4xi16>) -> tensor<4xi16>
  %r_i16 = tg.shr %i16, %i16 : tensor<4xi16>
  // CHECK: %r_i32 = tg.shr %i32, %i32 : tensor<4xi32>
  // GENERIC: %r_i32 = "tg.shr"(%i32, %i32) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r_i32 = tg.shr %i32, %i32 : tensor<4xi32>
  // CHECK: %r_i64 = tg.shr %i64, %i64 : tensor<4xi64>
  // GENERIC: %r_i64 = "tg.shr"(%i64, %i64) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %r_i64 = tg.shr %i64, %i64 : tensor<4xi64>
  // CHECK: %r_ui8 = tg.shr %ui8, %ui8 : tensor<4xui8>
  // GENERIC: %r_ui8 = "tg.shr"(%ui8, %ui8) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %r_ui8 = tg.shr %ui8, %ui8 : tensor<4xui8>
  // CHECK: %r_ui16 = tg.shr %ui16, %ui16 : tensor<4xui16>
  // GENERIC: %r_ui16 = "tg.shr"(%ui16, %ui16) : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xui16>
  %r_ui16 = tg.shr %ui16, %ui16 : tensor<4xui16>
  // CHECK: %r_ui32 = tg.shr %ui32, %ui32 : tensor<4xui32>
  // GENERIC: %r_ui32 = "tg.shr"(%ui32, %ui32) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %r_ui32 = tg.shr %ui32, %ui32 : tensor<4xui32>
  // CHECK: %r_ui64 = tg.shr %ui64, %ui64 : tensor<4xui64>
  // GENERIC: %r_ui64 = "tg.shr"(%ui64, %ui64) : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xui64>
  %r_ui64 = tg.shr %ui64, %ui64 : tensor<4xui64>
  // CHECK: %r_index = tg.shr %index, %index : tensor<4xindex>
  // GENERIC: %r_index = "tg.shr"(%index, %index) : (tensor<4xindex>, tensor<4xindex>) -> tensor<4xindex>
  %r_index = tg.shr %index, %index : tensor<4xindex>
  func.return
}

func.func @shapes(%a: tensor<4x1xi32>, %b: tensor<3xi32>, %c: tensor<i32>, %e: tensor<0x3xi32>, %m: tensor<3xi32, #tg.place<"CPU", global>>) {
  // CHECK: %broadcast = tg.shr %a, %b : (tensor<4x1xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  // GENERIC: %broadcast = "tg.shr"(%a, %b) : (tensor<4x1xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  %broadcast = tg.shr %a, %b : (tensor<4x1xi32>, tensor<3xi32>) -> tensor<4x3xi32>
  // CHECK: %scalar = tg.shr %c, %b : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // GENERIC: %scalar = "tg.shr"(%c, %b) : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  %scalar = tg.shr %c, %b : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: %empty = tg.shr %e, %b : (tensor<0x3xi32>, tensor<3xi32>) -> tensor<0x3xi32>
  // GENERIC: %empty = "tg.shr"(%e, %b) : (tensor<0x3xi32>, tensor<3xi32>) -> tensor<0x3xi32>
  %empty = tg.shr %e, %b : (tensor<0x3xi32>, tensor<3xi32>) -> tensor<0x3xi32>
  // CHECK: %read = tg.shr %m, %a : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<4x1xi32>) -> tensor<4x3xi32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.shr"(%m, %a) : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<4x1xi32>) -> tensor<4x3xi32, #tg.place<"CPU">>
  %read = tg.shr %m, %a : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<4x1xi32>) -> tensor<4x3xi32, #tg.place<"CPU">>
  func.return
}

func.func @sharded(%s: tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, %u: tensor<4xi32, #tg.place<["A", "B"], axis = 0>>, %v: tensor<i32>, %r: tensor<4xi32, #tg.place<["A", "B"]>>) {
  // CHECK: %same = tg.shr %s, %u : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<4xi32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %same = "tg.shr"(%s, %u) : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<4xi32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  %same = tg.shr %s, %u : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<4xi32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %null = tg.shr %s, %v : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<i32>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %null = "tg.shr"(%s, %v) : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<i32>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  %null = tg.shr %s, %v : (tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>, tensor<i32>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.shr %r, %s : (tensor<4xi32, #tg.place<["A", "B"]>>, tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %replicated = "tg.shr"(%r, %s) : (tensor<4xi32, #tg.place<["A", "B"]>>, tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.shr %r, %s : (tensor<4xi32, #tg.place<["A", "B"]>>, tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>) -> tensor<6x4xi32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" : tensor<index>
  %a = tg.param 1 (%n) : tensor<?xi32>
  %b = tg.param 2 (%n) : tensor<4x?xi32>
  // CHECK: %dynamic = tg.shr %a, %b : (tensor<?xi32>, tensor<4x?xi32>) -> tensor<4x?xi32>
  // GENERIC: %dynamic = "tg.shr"(%a, %b) : (tensor<?xi32>, tensor<4x?xi32>) -> tensor<4x?xi32>
  %dynamic = tg.shr %a, %b : (tensor<?xi32>, tensor<4x?xi32>) -> tensor<4x?xi32>
  func.return
}
