// RUN: tg-opt %s --split-input-file --verify-diagnostics -p tg-choose-sorts{target=cpu}

#m = #tg.place<"CPU", global>
tg.customfunction @tg.sort() reads [0] writes [1]
func.func @main(%x: tensor<4xf32, #m>, %y: tensor<4xi32, #m>) {
  // expected-error@below {{@tg.sort stores f32 in all of the axes of tensor<4xf32}}
  %0 = tg.call @tg.sort(%x, %y) : (tensor<4xf32, #m>, tensor<4xi32, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}

// -----
#m = #tg.place<"CPU", global>
tg.customfunction @tg.argsort() reads [0] writes [1]
func.func @main(%x: tensor<4xf32, #m>, %y: tensor<5xi32, #m>) {
  // expected-error@below {{in the last one for as many cells or fewer, and not in tensor<5xi32}}
  %0 = tg.call @tg.argsort(%x, %y) : (tensor<4xf32, #m>, tensor<5xi32, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}

// -----
#m = #tg.place<"CPU", global>
tg.customfunction @tg.argsort() reads [0] writes [1]
func.func @main(%x: tensor<f32, #m>, %y: tensor<i32, #m>) {
  // expected-error@below {{@tg.argsort sorts the last axis, and tensor<f32, #tg.place<"CPU", global>> has none}}
  %0 = tg.call @tg.argsort(%x, %y) : (tensor<f32, #m>, tensor<i32, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}

// -----
#m = #tg.place<"CPU", global>
tg.customfunction @tg.argsort() reads [0] writes [1]
func.func @main(%x: tensor<4xf32, #m>, %y: tensor<4xi32, #m>) {
  // expected-error@below {{@tg.argsort takes the memory that it sorts, and memory for the result}}
  %0 = tg.call @tg.argsort(%x, %y, %y) : (tensor<4xf32, #m>, tensor<4xi32, #m>, tensor<4xi32, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}

// -----
// expected-error@below {{@tg.sort is built in, and reads [0] writes [1]}}
tg.customfunction @tg.sort() reads [1] writes [0]

// -----
#m = #tg.place<"CPU", global>
tg.customfunction @tg.argsort() reads [0] writes [1]
func.func @main(%n: tensor<index>, %x: tensor<?xf32, #m> {tg.dims = array<i64: 0>}, %y: tensor<?xi32, #m> {tg.dims = array<i64: 0>}) {
  // expected-error@below {{a sort of an axis whose greatest extent is not known}}
  %0 = tg.call @tg.argsort(%x, %y) : (tensor<?xf32, #m>, tensor<?xi32, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}

// -----
#m = #tg.place<"CPU", global>
tg.customfunction @tg.sort() reads [0] writes [1]
func.func @main(%n: tensor<index> {tg.max = 9 : index}, %x: tensor<?xf32, #m> {tg.dims = array<i64: 0>}, %y: tensor<?xf32, #m> {tg.dims = array<i64: 0>}) {
  // expected-error@below {{sorted values of a dynamic shape: gather them by their positions}}
  %0 = tg.call @tg.sort(%x, %y) : (tensor<?xf32, #m>, tensor<?xf32, #m>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}
