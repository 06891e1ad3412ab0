// RUN: tg-opt %s --split-input-file -p tg-choose-sorts{target=cpu} | filecheck %s
// RUN: tg-opt %s --split-input-file -p tg-choose-sorts{target=opencl} | filecheck %s --check-prefix=GRID

#m = #tg.place<"CPU", global>

// All pairs of a short axis are compared, by tensor ops.

// CHECK-LABEL: func.func @pairs
// CHECK-NOT:     tg.call
// CHECK:         tg.cmplt
// CHECK:         tg.store %y
// CHECK-NOT:   tg.kernel
// GRID-LABEL:  func.func @pairs
// GRID-NOT:      tg.call
tg.customfunction @tg.argsort() reads [0] writes [1]
func.func @pairs(%x: tensor<100xi32, #m>, %y: tensor<100xi32, #m>) {
  %0 = tg.call @tg.argsort(%x, %y) : (tensor<100xi32, #m>, tensor<100xi32, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}

// -----
#m = #tg.place<"CPU", global>

// Values of many rows are sorted in the lanes of vectors, and elsewhere gathered by positions.

// CHECK-LABEL: func.func @rows
// CHECK:         tg.call @sort_columns_32_63_256_16
// CHECK:         tg.store %y
// GRID-LABEL:  func.func @rows
// GRID:          tg.call @merge_
// GRID:          tg.index
tg.customfunction @tg.sort() reads [0] writes [1]
func.func @rows(%x: tensor<1000x200xf32, #m>, %y: tensor<1000x200xf32, #m>) {
  %0 = tg.call @tg.sort(%x, %y) : (tensor<1000x200xf32, #m>, tensor<1000x200xf32, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}

// -----
#m = #tg.place<"CPU", global>

// Few cells of a long axis are kept in registers as they are found; more are selected.

// CHECK-LABEL: func.func @few
// CHECK:         tg.call @smallest_3_by_insertion_32_1
// CHECK:         tg.call @smallest_by_selection_32
// GRID-LABEL:  func.func @few
// GRID:          tg.call @sort_blocks_32_1_500
// GRID:          tg.shrink
tg.customfunction @tg.argsort_descending() reads [0] writes [1]
func.func @few(%x: tensor<500xf32, #m>, %y: tensor<3xi32, #m>, %z: tensor<100xi32, #m>) {
  %0 = tg.call @tg.argsort_descending(%x, %y) : (tensor<500xf32, #m>, tensor<3xi32, #m>) -> !tg.void
  %1 = tg.call @tg.argsort_descending(%x, %z) : (tensor<500xf32, #m>, tensor<100xi32, #m>) -> !tg.void
  %2 = tg.sink %0, %1 : !tg.void, !tg.void
  func.return
}

// -----
#m = #tg.place<"CPU", global>

// A kernel of the module keeps its name, and what is called is another one.

// CHECK:       tg.kernel @radix_count_8_8_1_1_1_n {
// CHECK-LABEL: func.func @taken
// CHECK:         tg.call @radix_count_8_8_1_1_1_n_0(
// CHECK:       tg.kernel @radix_count_8_8_1_1_1_n_0 {
tg.customfunction @tg.sort_descending() reads [0] writes [1]
tg.kernel @radix_count_8_8_1_1_1_n {
  %0 = tg.param 0 : tensor<f32, #tg.place<global>>
  %1 = tg.const 1.5 : tensor<f32>
  %2 = tg.store %0, %1 : tensor<f32, #tg.place<global>>, tensor<f32>
  %3 = tg.sink %2 : !tg.void
}
func.func @taken(%x: tensor<500xi8, #m>, %y: tensor<500xi8, #m>) {
  %0 = tg.call @tg.sort_descending(%x, %y) : (tensor<500xi8, #m>, tensor<500xi8, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}
