// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// `tg.dims` says which arguments the dynamic extents of an argument are. Other extents equal themselves only.

func.func @known(%n: tensor<index>, %x: tensor<?x4xf32> {tg.dims = array<i64: 0>}, %y: tensor<?xf32> {tg.dims = array<i64: 0>}) {
  // CHECK: %a = tg.reshape %x [4, %n] : tensor<?x4xf32> -> tensor<4x?xf32>
  // GENERIC: %a = "tg.reshape"(%x, %n) <{shape = array<i64: 4, -9223372036854775808>}> : (tensor<?x4xf32>, tensor<index>) -> tensor<4x?xf32>
  %a = tg.reshape %x [4, %n] : tensor<?x4xf32> -> tensor<4x?xf32>
  // CHECK: %b = tg.reduce add %x [1] : tensor<?x4xf32> -> tensor<?x1xf32>
  // GENERIC: %b = "tg.reduce"(%x) <{op = #tg<reduce_kind add>, axes = array<i64: 1>}> : (tensor<?x4xf32>) -> tensor<?x1xf32>
  %b = tg.reduce add %x [1] : tensor<?x4xf32> -> tensor<?x1xf32>
  // CHECK: %c = tg.reshape %b [%n] : tensor<?x1xf32> -> tensor<?xf32>
  // GENERIC: %c = "tg.reshape"(%b, %n) <{shape = array<i64: -9223372036854775808>}> : (tensor<?x1xf32>, tensor<index>) -> tensor<?xf32>
  %c = tg.reshape %b [%n] : tensor<?x1xf32> -> tensor<?xf32>
  // CHECK: %d = tg.add %c, %y : tensor<?xf32>
  // GENERIC: %d = "tg.add"(%c, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = tg.add %c, %y : tensor<?xf32>
  func.return
}

func.func @unknown(%x: tensor<?x?xf32>) {
  // CHECK: %a = tg.add %x, %x : tensor<?x?xf32>
  // GENERIC: %a = "tg.add"(%x, %x) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %a = tg.add %x, %x : tensor<?x?xf32>
  // CHECK: %b = tg.permute %x [1, 0] : tensor<?x?xf32>
  // GENERIC: %b = "tg.permute"(%x) <{order = array<i64: 1, 0>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %b = tg.permute %x [1, 0] : tensor<?x?xf32>
  // CHECK: %c = tg.permute %b [1, 0] : tensor<?x?xf32>
  // GENERIC: %c = "tg.permute"(%b) <{order = array<i64: 1, 0>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = tg.permute %b [1, 0] : tensor<?x?xf32>
  // CHECK: %d = tg.add %x, %c : tensor<?x?xf32>
  // GENERIC: %d = "tg.add"(%x, %c) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = tg.add %x, %c : tensor<?x?xf32>
  func.return
}
