// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// Of a value: permuted, flipped, expanded, shrunk.
func.func @one(%x: tensor<24xf32>, %y: tensor<f32>) {
  // CHECK: %rows = tg_legacy.view %x [#tg_legacy.view<[4, 6]>] : tensor<24xf32> -> tensor<4x6xf32>
  // GENERIC: %rows = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[4, 6]>]}> : (tensor<24xf32>) -> tensor<4x6xf32>
  %rows = tg_legacy.view %x [#tg_legacy.view<[4, 6]>] : tensor<24xf32> -> tensor<4x6xf32>
  // CHECK: %columns = tg_legacy.view %x [#tg_legacy.view<[4, 6], strides = [1, 4]>] : tensor<24xf32> -> tensor<4x6xf32>
  // GENERIC: %columns = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[4, 6], strides = [1, 4]>]}> : (tensor<24xf32>) -> tensor<4x6xf32>
  %columns = tg_legacy.view %x [#tg_legacy.view<[4, 6], strides = [1, 4]>] : tensor<24xf32> -> tensor<4x6xf32>
  // CHECK: %flipped = tg_legacy.view %x [#tg_legacy.view<[24], strides = [-1], offset = 23>] : tensor<24xf32>
  // GENERIC: %flipped = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[24], strides = [-1], offset = 23>]}> : (tensor<24xf32>) -> tensor<24xf32>
  %flipped = tg_legacy.view %x [#tg_legacy.view<[24], strides = [-1], offset = 23>] : tensor<24xf32>
  // CHECK: %expanded = tg_legacy.view %y [#tg_legacy.view<[3, 2], strides = [0, 0]>] : tensor<f32> -> tensor<3x2xf32>
  // GENERIC: %expanded = "tg_legacy.view"(%y) <{views = [#tg_legacy.view<[3, 2], strides = [0, 0]>]}> : (tensor<f32>) -> tensor<3x2xf32>
  %expanded = tg_legacy.view %y [#tg_legacy.view<[3, 2], strides = [0, 0]>] : tensor<f32> -> tensor<3x2xf32>
  // CHECK: %shrunk = tg_legacy.view %x [#tg_legacy.view<[2, 6], offset = 12>] : tensor<24xf32> -> tensor<2x6xf32>
  // GENERIC: %shrunk = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[2, 6], offset = 12>]}> : (tensor<24xf32>) -> tensor<2x6xf32>
  %shrunk = tg_legacy.view %x [#tg_legacy.view<[2, 6], offset = 12>] : tensor<24xf32> -> tensor<2x6xf32>
  // CHECK: %scalar = tg_legacy.view %x [#tg_legacy.view<[], offset = 5>] : tensor<24xf32> -> tensor<f32>
  // GENERIC: %scalar = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[], offset = 5>]}> : (tensor<24xf32>) -> tensor<f32>
  %scalar = tg_legacy.view %x [#tg_legacy.view<[], offset = 5>] : tensor<24xf32> -> tensor<f32>
  // CHECK: %none = tg_legacy.view %x [#tg_legacy.view<[0, 6]>] : tensor<24xf32> -> tensor<0x6xf32>
  // GENERIC: %none = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[0, 6]>]}> : (tensor<24xf32>) -> tensor<0x6xf32>
  %none = tg_legacy.view %x [#tg_legacy.view<[0, 6]>] : tensor<24xf32> -> tensor<0x6xf32>
  func.return
}

// Each of merged views shows the elements of the one before it.
func.func @several(%x: tensor<24xf32>) {
  // CHECK: %0 = tg_legacy.view %x [#tg_legacy.view<[4, 6], strides = [1, 4]>, #tg_legacy.view<[3, 8]>] : tensor<24xf32> -> tensor<3x8xf32>
  // GENERIC: %0 = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[4, 6], strides = [1, 4]>, #tg_legacy.view<[3, 8]>]}> : (tensor<24xf32>) -> tensor<3x8xf32>
  %0 = tg_legacy.view %x [#tg_legacy.view<[4, 6], strides = [1, 4]>, #tg_legacy.view<[3, 8]>] : tensor<24xf32> -> tensor<3x8xf32>
  // CHECK: %1 = tg_legacy.view %x [#tg_legacy.view<[6, 4], strides = [1, 6]>, #tg_legacy.view<[2, 12]>, #tg_legacy.view<[5], offset = 3>] : tensor<24xf32> -> tensor<5xf32>
  // GENERIC: %1 = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[6, 4], strides = [1, 6]>, #tg_legacy.view<[2, 12]>, #tg_legacy.view<[5], offset = 3>]}> : (tensor<24xf32>) -> tensor<5xf32>
  %1 = tg_legacy.view %x [#tg_legacy.view<[6, 4], strides = [1, 6]>, #tg_legacy.view<[2, 12]>, #tg_legacy.view<[5], offset = 3>] : tensor<24xf32> -> tensor<5xf32>
  func.return
}

// Positions that the mask leaves out need not exist.
func.func @masked(%x: tensor<4xf32>) {
  // CHECK: %0 = tg_legacy.view %x [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>] : tensor<4xf32> -> tensor<6xf32>
  // GENERIC: %0 = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>]}> : (tensor<4xf32>) -> tensor<6xf32>
  %0 = tg_legacy.view %x [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>] : tensor<4xf32> -> tensor<6xf32>
  // CHECK: %1 = tg_legacy.view %x [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>, #tg_legacy.view<[2, 3]>] : tensor<4xf32> -> tensor<2x3xf32>
  // GENERIC: %1 = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>, #tg_legacy.view<[2, 3]>]}> : (tensor<4xf32>) -> tensor<2x3xf32>
  %1 = tg_legacy.view %x [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>, #tg_legacy.view<[2, 3]>] : tensor<4xf32> -> tensor<2x3xf32>
  // CHECK: %2 = tg_legacy.view %x [#tg_legacy.view<[4], offset = 100, mask = [[2, 2]]>] : tensor<4xf32>
  // GENERIC: %2 = "tg_legacy.view"(%x) <{views = [#tg_legacy.view<[4], offset = 100, mask = [[2, 2]]>]}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tg_legacy.view %x [#tg_legacy.view<[4], offset = 100, mask = [[2, 2]]>] : tensor<4xf32>
  func.return
}

func.func @memory(%m: tensor<4xf32, #tg.place<"CPU", global>>, %n: tensor<?xf32, #tg.place<global>>) {
  // CHECK: %0 = tg_legacy.view %m [#tg_legacy.view<[2, 2], strides = [1, 2]>] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<2x2xf32, #tg.place<"CPU", global>>
  // GENERIC: %0 = "tg_legacy.view"(%m) <{views = [#tg_legacy.view<[2, 2], strides = [1, 2]>]}> : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x2xf32, #tg.place<"CPU", global>>
  %0 = tg_legacy.view %m [#tg_legacy.view<[2, 2], strides = [1, 2]>] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<2x2xf32, #tg.place<"CPU", global>>
  // CHECK: %1 = tg_legacy.view %n [#tg_legacy.view<[100]>] : tensor<?xf32, #tg.place<global>> -> tensor<100xf32, #tg.place<global>>
  // GENERIC: %1 = "tg_legacy.view"(%n) <{views = [#tg_legacy.view<[100]>]}> : (tensor<?xf32, #tg.place<global>>) -> tensor<100xf32, #tg.place<global>>
  %1 = tg_legacy.view %n [#tg_legacy.view<[100]>] : tensor<?xf32, #tg.place<global>> -> tensor<100xf32, #tg.place<global>>
  func.return
}

// Of a DEVICE, for a CONST there; of nothing, for LOAD, STORE and VALID.
func.func @shape() {
  %d = tg_legacy.device "CPU"
  // CHECK: %0 = tg_legacy.view %d [#tg_legacy.view<[4, 6], strides = [0, 0]>] : !tg.void
  // GENERIC: %0 = "tg_legacy.view"(%d) <{views = [#tg_legacy.view<[4, 6], strides = [0, 0]>]}> : (!tg.void) -> !tg.void
  %0 = tg_legacy.view %d [#tg_legacy.view<[4, 6], strides = [0, 0]>] : !tg.void
  // CHECK: %1 = tg_legacy.view [#tg_legacy.view<[4, 6], strides = [1, 4]>] : !tg.void
  // GENERIC: %1 = "tg_legacy.view"() <{views = [#tg_legacy.view<[4, 6], strides = [1, 4]>]}> : () -> !tg.void
  %1 = tg_legacy.view [#tg_legacy.view<[4, 6], strides = [1, 4]>] : !tg.void
  func.return
}
