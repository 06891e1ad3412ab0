// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%n: tensor<index>, %k: tensor<i32>) {
  // CHECK: %gl0 = tg.range 0 global to %n : tensor<index>
  // GENERIC: %gl0 = "tg.range"(%n) <{axis = #tg.number<0>, axis_type = #tg<axis_type global>}> : (tensor<index>) -> tensor<index>
  %gl0 = tg.range 0 global to %n : tensor<index>
  // CHECK: %lo1 = tg.range 1 local to %n : tensor<index>
  // GENERIC: %lo1 = "tg.range"(%n) <{axis = #tg.number<1>, axis_type = #tg<axis_type local>}> : (tensor<index>) -> tensor<index>
  %lo1 = tg.range 1 local to %n : tensor<index>
  // CHECK: %wa2 = tg.range 2 warp to %n : tensor<index>
  // GENERIC: %wa2 = "tg.range"(%n) <{axis = #tg.number<2>, axis_type = #tg<axis_type warp>}> : (tensor<index>) -> tensor<index>
  %wa2 = tg.range 2 warp to %n : tensor<index>
  // CHECK: %th3 = tg.range 3 thread to %n : tensor<index>
  // GENERIC: %th3 = "tg.range"(%n) <{axis = #tg.number<3>, axis_type = #tg<axis_type thread>}> : (tensor<index>) -> tensor<index>
  %th3 = tg.range 3 thread to %n : tensor<index>
  // CHECK: %lo4 = tg.range 4 loop to %n : tensor<index>
  // GENERIC: %lo4 = "tg.range"(%n) <{axis = #tg.number<4>, axis_type = #tg<axis_type loop>}> : (tensor<index>) -> tensor<index>
  %lo4 = tg.range 4 loop to %n : tensor<index>
  // CHECK: %re5 = tg.range 5 reduce to %n : tensor<index>
  // GENERIC: %re5 = "tg.range"(%n) <{axis = #tg.number<5>, axis_type = #tg<axis_type reduce>}> : (tensor<index>) -> tensor<index>
  %re5 = tg.range 5 reduce to %n : tensor<index>
  // CHECK: %gr6 = tg.range 6 group_reduce to %n : tensor<index>
  // GENERIC: %gr6 = "tg.range"(%n) <{axis = #tg.number<6>, axis_type = #tg<axis_type group_reduce>}> : (tensor<index>) -> tensor<index>
  %gr6 = tg.range 6 group_reduce to %n : tensor<index>
  // CHECK: %up7 = tg.range 7 upcast to %n : tensor<index>
  // GENERIC: %up7 = "tg.range"(%n) <{axis = #tg.number<7>, axis_type = #tg<axis_type upcast>}> : (tensor<index>) -> tensor<index>
  %up7 = tg.range 7 upcast to %n : tensor<index>
  // CHECK: %un8 = tg.range 8 unroll to %n : tensor<index>
  // GENERIC: %un8 = "tg.range"(%n) <{axis = #tg.number<8>, axis_type = #tg<axis_type unroll>}> : (tensor<index>) -> tensor<index>
  %un8 = tg.range 8 unroll to %n : tensor<index>
  // CHECK: %r = tg.range 9 loop to %k : tensor<i32>
  // GENERIC: %r = "tg.range"(%k) <{axis = #tg.number<9>, axis_type = #tg<axis_type loop>}> : (tensor<i32>) -> tensor<index>
  %r = tg.range 9 loop to %k : tensor<i32>
  func.return
}
