// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// The total number of bytes stays; a bool is a byte, an index eight.

func.func @f(%x: tensor<4xf32>, %b: tensor<2x8xui8>, %m: tensor<4xf32, #tg.place<"CPU", global>>, %c: tensor<f32>, %s: tensor<4x2xf32, #tg.place<["A", "B"], axis = 1>>, %p: tensor<3xi1>) {
  // CHECK: %a = tg.bitcast %x to i32 : tensor<4xf32> -> tensor<4xi32>
  // GENERIC: %a = "tg.bitcast"(%x) <{dtype = i32}> : (tensor<4xf32>) -> tensor<4xi32>
  %a = tg.bitcast %x to i32 : tensor<4xf32> -> tensor<4xi32>
  // CHECK: %bytes = tg.bitcast %x to ui8 : tensor<4xf32> -> tensor<16xui8>
  // GENERIC: %bytes = "tg.bitcast"(%x) <{dtype = ui8}> : (tensor<4xf32>) -> tensor<16xui8>
  %bytes = tg.bitcast %x to ui8 : tensor<4xf32> -> tensor<16xui8>
  // CHECK: %wide = tg.bitcast %b to f64 : tensor<2x8xui8> -> tensor<2x1xf64>
  // GENERIC: %wide = "tg.bitcast"(%b) <{dtype = f64}> : (tensor<2x8xui8>) -> tensor<2x1xf64>
  %wide = tg.bitcast %b to f64 : tensor<2x8xui8> -> tensor<2x1xf64>
  // CHECK: %scalar = tg.bitcast %c to ui32 : tensor<f32> -> tensor<ui32>
  // GENERIC: %scalar = "tg.bitcast"(%c) <{dtype = ui32}> : (tensor<f32>) -> tensor<ui32>
  %scalar = tg.bitcast %c to ui32 : tensor<f32> -> tensor<ui32>
  // CHECK: %view = tg.bitcast %m to bf16 : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<8xbf16, #tg.place<"CPU", global>>
  // GENERIC: %view = "tg.bitcast"(%m) <{dtype = bf16}> : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<8xbf16, #tg.place<"CPU", global>>
  %view = tg.bitcast %m to bf16 : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<8xbf16, #tg.place<"CPU", global>>
  // CHECK: %sharded = tg.bitcast %s to i16 : tensor<4x2xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x4xi16, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %sharded = "tg.bitcast"(%s) <{dtype = i16}> : (tensor<4x2xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x4xi16, #tg.place<["A", "B"], axis = 1>>
  %sharded = tg.bitcast %s to i16 : tensor<4x2xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x4xi16, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %bool = tg.bitcast %p to ui8 : tensor<3xi1> -> tensor<3xui8>
  // GENERIC: %bool = "tg.bitcast"(%p) <{dtype = ui8}> : (tensor<3xi1>) -> tensor<3xui8>
  %bool = tg.bitcast %p to ui8 : tensor<3xi1> -> tensor<3xui8>
  // CHECK: %same = tg.bitcast %x to f32 : tensor<4xf32>
  // GENERIC: %same = "tg.bitcast"(%x) <{dtype = f32}> : (tensor<4xf32>) -> tensor<4xf32>
  %same = tg.bitcast %x to f32 : tensor<4xf32>
  func.return
}
