// RUN: tg-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @copy_of_copy
// CHECK-NEXT: %0 = tg.copy %x to "C"
// CHECK-NEXT: func.return %0
func.func @copy_of_copy(%x: tensor<4xf32, #tg.place<"A">>) -> tensor<4xf32, #tg.place<"C">> {
  %0 = tg.copy %x to "B" : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"B">>
  %1 = tg.copy %0 to "C" : tensor<4xf32, #tg.place<"B">> -> tensor<4xf32, #tg.place<"C">>
  return %1 : tensor<4xf32, #tg.place<"C">>
}

// There and back again is a copy, and a copy of what a copy has made is none.
// CHECK-LABEL: @same_device
// CHECK-NEXT: %0 = tg.copy %x to "A"
// CHECK-NEXT: %1 = tg.copy %x to "A"
// CHECK-NEXT: func.return %0, %1
func.func @same_device(%x: tensor<4xf32, #tg.place<"A">>) -> (tensor<4xf32, #tg.place<"A">>, tensor<4xf32, #tg.place<"A">>) {
  %0 = tg.copy %x to "A" : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"A">>
  %1 = tg.copy %0 to "A" : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"A">>
  %2 = tg.copy %x to "B" : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"B">>
  %3 = tg.copy %2 to "A" : tensor<4xf32, #tg.place<"B">> -> tensor<4xf32, #tg.place<"A">>
  return %1, %3 : tensor<4xf32, #tg.place<"A">>, tensor<4xf32, #tg.place<"A">>
}

// A copy that is asked for is left alone.
// CHECK-LABEL: @kept
// CHECK-COUNT-2: tg.copy
func.func @kept(%x: tensor<4xf32, #tg.place<"A">>) -> tensor<4xf32, #tg.place<"C">> {
  %2 = tg.copy %x to "A" clone : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"A">>
  %3 = tg.copy %2 to "C" : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"C">>
  return %3 : tensor<4xf32, #tg.place<"C">>
}

// An unused load is dropped; a store is not.
// CHECK-LABEL: @effects
// CHECK-NEXT: tg.store
func.func @effects(%x: tensor<4xf32, #tg.place<"A", global>>, %y: tensor<4xf32>) {
  %0 = tg.load %x : tensor<4xf32, #tg.place<"A", global>> -> tensor<4xf32, #tg.place<"A">>
  %1 = tg.store %x, %y : tensor<4xf32, #tg.place<"A", global>>, tensor<4xf32>
  %2 = tg.sink %1 : !tg.void
  return
}
