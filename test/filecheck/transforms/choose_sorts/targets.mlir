// RUN: tg-opt %s | tg-opt | filecheck %s
// RUN: tg-opt %s -p tg-choose-sorts{target=cpu} | filecheck %s --check-prefix=CPU
// RUN: tg-opt %s -p tg-choose-sorts{target=opencl} | filecheck %s --check-prefix=GRID
// RUN: tg-opt %s -p tg-choose-sorts{target=nvidia:sm_90} | filecheck %s --check-prefix=GRID
// RUN: tg-opt %s -p tg-choose-sorts{target=metal} | filecheck %s --check-prefix=GRID
// RUN: tg-opt %s -p tg-to-llvm | filecheck %s --check-prefix=LLVM
// RUN: tg-opt %s -p tg-to-source{target=c} -t c | filecheck %s --check-prefix=SOURCE
// RUN: tg-opt %s -p tg-to-source{target=opencl} -t opencl | filecheck %s --check-prefix=MERGED
// RUN: tg-opt %s -p tg-to-source{target=metal} -t metal | filecheck %s --check-prefix=MERGED
// RUN: tg-opt %s -p 'tg-to-source{target=nvidia:sm_90 output=cuda}' -t cuda | filecheck %s --check-prefix=MERGED
// RUN: tg-opt %s -p tg-to-gpu{target=nvidia:sm_90} | filecheck %s --check-prefix=GPU

// A FUNCTION that CALLs a sort becomes an algorithm for the target.

// CHECK: tg.customfunction @tg.argsort() reads [0] writes [1]
// CHECK: tg.call @tg.argsort(%{{.*}}, %{{.*}})

// One thread sorts a row by digits, and many merge parts of it.

// CPU-LABEL: func.func @main
// CPU-NOT:     @tg.argsort
// CPU:         tg.call @radix_count_32_8_3_1_4_n
// CPU:         tg.call @radix_pass_32_8_3_1_4_n_2
// CPU:       tg.kernel @radix_count_32_8_3_1_4_n
// CPU-NOT:   tg.customfunction

// GRID-LABEL: func.func @main
// GRID:         tg.call @sort_blocks_32_3_200
// GRID:         tg.call @merge_32_3_200
// GRID:       tg.kernel @sort_blocks_32_3_200
// GRID-NOT:   tg.customfunction

// LLVM:   llvm.func @radix_count_32_8_3_1_4_n
// SOURCE: radix_count_32_8_3_1_4_n
// MERGED: sort_blocks_32_3_200
// GPU:    llvm.func @merge_32_3_200
tg.customfunction @tg.argsort() reads [0] writes [1]
func.func @main(%x: tensor<3x200xf32>) -> tensor<3x200xi32> {
  %0 = tg.function(%x) {
    %1 = tg.param 0 : tensor<3x200xf32>
    %2 = tg.buffer 0 : tensor<3x200xf32, #tg.place<global>>
    %3 = tg.store %2, %1 : tensor<3x200xf32, #tg.place<global>>, tensor<3x200xf32>
    %4 = tg.after %2, %3 : (tensor<3x200xf32, #tg.place<global>>, !tg.void) -> tensor<3x200xf32, #tg.place<global>>
    %5 = tg.buffer 1 : tensor<3x200xi32, #tg.place<global>>
    %6 = tg.call @tg.argsort(%4, %5) : (tensor<3x200xf32, #tg.place<global>>, tensor<3x200xi32, #tg.place<global>>) -> !tg.void
    %7 = tg.after %5, %6 : (tensor<3x200xi32, #tg.place<global>>, !tg.void) -> tensor<3x200xi32, #tg.place<global>>
    %8 = tg.load %7 : tensor<3x200xi32, #tg.place<global>> -> tensor<3x200xi32>
    %9 = tg.tuple %8 : tensor<3x200xi32> -> !tg.tuple<tensor<3x200xi32>>
  } : tensor<3x200xf32> -> !tg.tuple<tensor<3x200xi32>>
  %1 = tg.gettuple %0 0 : !tg.tuple<tensor<3x200xi32>> -> tensor<3x200xi32>
  func.return %1 : tensor<3x200xi32>
}
