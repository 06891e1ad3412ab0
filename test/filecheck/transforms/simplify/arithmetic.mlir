// RUN: tg-opt %s -p tg-simplify | filecheck %s

// Each rule of tgdialect/transforms/simplify/arithmetic.py, by its name.

// CHECK-LABEL: @mod_of_less(
// CHECK-NEXT: func.return %x
func.func @mod_of_less(%x: tensor<index> {tg.min = 0 : index, tg.max = 3 : index}, %y: tensor<index> {tg.min = 4 : index, tg.max = 9 : index}) -> tensor<index> {
  %0 = tg.mod %x, %y : tensor<index>
  return %0 : tensor<index>
}

// CHECK-LABEL: @max_of_greater(
// CHECK-NEXT: func.return %x
func.func @max_of_greater(%x: tensor<index> {tg.min = 5 : index, tg.max = 9 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 5 : index}) -> tensor<index> {
  %0 = tg.max %x, %y : tensor<index>
  return %0 : tensor<index>
}

// CHECK-LABEL: @max_of_max(
// CHECK-NEXT: %[[V0:.*]] = tg.const 7 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.max %x, %[[V0]] : tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @max_of_max(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 3 : tensor<index>
  %0 = tg.max %x, %c0 : tensor<index>
  %c2 = tg.const 7 : tensor<index>
  %1 = tg.max %0, %c2 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @add_of_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const 2 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.mul %x, %[[V0]] : tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @add_of_same(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %0 = tg.add %x, %x : tensor<index>
  return %0 : tensor<index>
}

// CHECK-LABEL: @multiple_mod(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<index>
// CHECK-NEXT: func.return %[[V0]]
func.func @multiple_mod(%x: tensor<index> {tg.min = 0 : index, tg.max = 9 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 9 : index}) -> tensor<index> {
  %0 = tg.mul %x, %y : tensor<index>
  %1 = tg.mod %0, %y : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @idiv_of_idiv(
// CHECK-NEXT: %[[V0:.*]] = tg.const 12 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.idiv %x, %[[V0]] : tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @idiv_of_idiv(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 4 : tensor<index>
  %0 = tg.idiv %x, %c0 : tensor<index>
  %c2 = tg.const 3 : tensor<index>
  %1 = tg.idiv %0, %c2 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @idiv_of_sum_of_idiv(
// CHECK-NEXT: %[[V0:.*]] = tg.const 12 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.add %x, %[[V0]] : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.const 20 : tensor<index>
// CHECK-NEXT: %[[V3:.*]] = tg.idiv %[[V1]], %[[V2]] : tensor<index>
// CHECK-NEXT: func.return %[[V3]]
func.func @idiv_of_sum_of_idiv(%x: tensor<index> {tg.min = -100 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 4 : tensor<index>
  %0 = tg.idiv %x, %c0 : tensor<index>
  %c2 = tg.const 3 : tensor<index>
  %1 = tg.add %0, %c2 : tensor<index>
  %c4 = tg.const 5 : tensor<index>
  %2 = tg.idiv %1, %c4 : tensor<index>
  return %2 : tensor<index>
}

// CHECK-LABEL: @mod_of_mod(
// CHECK-NEXT: %[[V0:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.mod %x, %[[V0]] : tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @mod_of_mod(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 12 : tensor<index>
  %0 = tg.mod %x, %c0 : tensor<index>
  %c2 = tg.const 4 : tensor<index>
  %1 = tg.mod %0, %c2 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @idiv_of_mod(
// CHECK-NEXT: %[[V0:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.idiv %x, %[[V0]] : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.const 3 : tensor<index>
// CHECK-NEXT: %[[V3:.*]] = tg.mod %[[V1]], %[[V2]] : tensor<index>
// CHECK-NEXT: func.return %[[V3]]
func.func @idiv_of_mod(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 12 : tensor<index>
  %0 = tg.mod %x, %c0 : tensor<index>
  %c2 = tg.const 4 : tensor<index>
  %1 = tg.idiv %0, %c2 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @shr_of_and(
// CHECK-NEXT: %[[V0:.*]] = tg.const 3 : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = tg.shr %x, %[[V0]] : tensor<i32>
// CHECK-NEXT: func.return %[[V1]]
func.func @shr_of_and(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const -8 : tensor<i32>
  %0 = tg.and %x, %c0 : tensor<i32>
  %c2 = tg.const 3 : tensor<i32>
  %1 = tg.shr %0, %c2 : tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @shl_as_mul(
// CHECK-NEXT: %[[V0:.*]] = tg.const 8 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.mul %i, %[[V0]] : tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @shl_as_mul(%i: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 3 : tensor<index>
  %0 = tg.shl %i, %c0 : tensor<index>
  return %0 : tensor<index>
}

// CHECK-LABEL: @shr_as_idiv(
// CHECK-NEXT: %[[V0:.*]] = tg.const 8 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.idiv %i, %[[V0]] : tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @shr_as_idiv(%i: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 3 : tensor<index>
  %0 = tg.shr %i, %c0 : tensor<index>
  return %0 : tensor<index>
}

// CHECK-LABEL: @and_as_mod(
// CHECK-NEXT: %[[V0:.*]] = tg.const 8 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.mod %i, %[[V0]] : tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @and_as_mod(%i: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 7 : tensor<index>
  %0 = tg.and %i, %c0 : tensor<index>
  return %0 : tensor<index>
}

// CHECK-LABEL: @greater(
// CHECK-NEXT: %[[V0:.*]] = tg.cmplt %y, %x : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @greater(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %0 = tg.cmpgt %x, %y : (tensor<index>, tensor<index>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @at_least(
// CHECK-NEXT: %[[V0:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %[[V0]], %x : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @at_least(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c0 = tg.const 5 : tensor<index>
  %0 = tg.cmpge %x, %c0 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @at_most(
// CHECK-NEXT: %[[V0:.*]] = tg.const 6 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %x, %[[V0]] : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @at_most(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c0 = tg.const 5 : tensor<index>
  %0 = tg.cmple %x, %c0 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @constant_at_least(
// CHECK-NEXT: %[[V0:.*]] = tg.const 6 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %x, %[[V0]] : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @constant_at_least(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c0 = tg.const 5 : tensor<index>
  %0 = tg.cmpge %c0, %x : (tensor<index>, tensor<index>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @constant_at_most(
// CHECK-NEXT: %[[V0:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %[[V0]], %x : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @constant_at_most(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c0 = tg.const 5 : tensor<index>
  %0 = tg.cmple %c0, %x : (tensor<index>, tensor<index>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @idiv_less(
// CHECK-NEXT: %[[V0:.*]] = tg.const 12 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %x, %[[V0]] : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @idiv_less(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c0 = tg.const 4 : tensor<index>
  %0 = tg.idiv %x, %c0 : tensor<index>
  %c2 = tg.const 3 : tensor<index>
  %1 = tg.cmplt %0, %c2 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @less_than_idiv(
// CHECK-NEXT: %[[V0:.*]] = tg.const 15 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %[[V0]], %x : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @less_than_idiv(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c0 = tg.const 3 : tensor<index>
  %c1 = tg.const 4 : tensor<index>
  %0 = tg.idiv %x, %c1 : tensor<index>
  %1 = tg.cmplt %c0, %0 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @negative_idiv_less(
// CHECK-NEXT: %[[V0:.*]] = tg.const -12 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %[[V0]], %x : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @negative_idiv_less(%x: tensor<index> {tg.min = -100 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c0 = tg.const -4 : tensor<index>
  %0 = tg.idiv %x, %c0 : tensor<index>
  %c2 = tg.const 3 : tensor<index>
  %1 = tg.cmplt %0, %c2 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @less_than_negative_idiv(
// CHECK-NEXT: %[[V0:.*]] = tg.const -15 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %x, %[[V0]] : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @less_than_negative_idiv(%x: tensor<index> {tg.min = -100 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c0 = tg.const 3 : tensor<index>
  %c1 = tg.const -4 : tensor<index>
  %0 = tg.idiv %x, %c1 : tensor<index>
  %1 = tg.cmplt %c0, %0 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @both_less(
// CHECK-NEXT: %[[V0:.*]] = tg.cmplt %x, %y : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @both_less(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 5 : index}, %z: tensor<index> {tg.min = 5 : index, tg.max = 9 : index}) -> tensor<i1> {
  %0 = tg.cmplt %x, %y : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.cmplt %x, %z : (tensor<index>, tensor<index>) -> tensor<i1>
  %2 = tg.and %0, %1 : tensor<i1>
  return %2 : tensor<i1>
}

// CHECK-LABEL: @either_less(
// CHECK-NEXT: %[[V0:.*]] = tg.cmplt %x, %z : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @either_less(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 5 : index}, %z: tensor<index> {tg.min = 5 : index, tg.max = 9 : index}) -> tensor<i1> {
  %0 = tg.cmplt %x, %y : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.cmplt %x, %z : (tensor<index>, tensor<index>) -> tensor<i1>
  %2 = tg.or %0, %1 : tensor<i1>
  return %2 : tensor<i1>
}

// CHECK-LABEL: @both_greater(
// CHECK-NEXT: %[[V0:.*]] = tg.cmplt %x, %z : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @both_greater(%x: tensor<index> {tg.min = 5 : index, tg.max = 9 : index}, %z: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 5 : index}) -> tensor<i1> {
  %0 = tg.cmplt %x, %z : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.cmplt %y, %z : (tensor<index>, tensor<index>) -> tensor<i1>
  %2 = tg.and %0, %1 : tensor<i1>
  return %2 : tensor<i1>
}

// CHECK-LABEL: @either_greater(
// CHECK-NEXT: %[[V0:.*]] = tg.cmplt %y, %z : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @either_greater(%x: tensor<index> {tg.min = 5 : index, tg.max = 9 : index}, %z: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 5 : index}) -> tensor<i1> {
  %0 = tg.cmplt %x, %z : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.cmplt %y, %z : (tensor<index>, tensor<index>) -> tensor<i1>
  %2 = tg.or %0, %1 : tensor<i1>
  return %2 : tensor<i1>
}

// CHECK-LABEL: @less_or_greater(
// CHECK-NEXT: %[[V0:.*]] = tg.const true : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @less_or_greater(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 6 : index, tg.max = 9 : index}, %z: tensor<index> {tg.min = 0 : index, tg.max = 5 : index}) -> tensor<i1> {
  %0 = tg.cmplt %x, %y : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.cmplt %z, %x : (tensor<index>, tensor<index>) -> tensor<i1>
  %2 = tg.or %0, %1 : tensor<i1>
  return %2 : tensor<i1>
}

// CHECK-LABEL: @neither_less_nor_greater(
// CHECK-NEXT: %[[V0:.*]] = tg.const false : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @neither_less_nor_greater(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %0 = tg.cmplt %x, %y : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.cmplt %y, %x : (tensor<index>, tensor<index>) -> tensor<i1>
  %2 = tg.and %0, %1 : tensor<i1>
  return %2 : tensor<i1>
}

// CHECK-LABEL: @empty_interval(
// CHECK-NEXT: %[[V0:.*]] = tg.const false : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @empty_interval(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 5 : index}, %z: tensor<index> {tg.min = 4 : index, tg.max = 9 : index}) -> tensor<i1> {
  %0 = tg.cmplt %x, %y : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.cmplt %z, %x : (tensor<index>, tensor<index>) -> tensor<i1>
  %2 = tg.and %0, %1 : tensor<i1>
  return %2 : tensor<i1>
}

// CHECK-LABEL: @where_plus(
// CHECK-NEXT: %[[V0:.*]] = tg.const 7 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.const 11 : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V0]], %[[V1]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V2]]
func.func @where_plus(%p: tensor<i1>) -> tensor<index> {
  %c0 = tg.const 5 : tensor<index>
  %c1 = tg.const 9 : tensor<index>
  %0 = tg.where %p, %c0, %c1 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %c3 = tg.const 2 : tensor<index>
  %1 = tg.add %0, %c3 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @where_times(
// CHECK-NEXT: %[[V0:.*]] = tg.const 10 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.const 18 : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V0]], %[[V1]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V2]]
func.func @where_times(%p: tensor<i1>) -> tensor<index> {
  %c0 = tg.const 5 : tensor<index>
  %c1 = tg.const 9 : tensor<index>
  %0 = tg.where %p, %c0, %c1 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %c3 = tg.const 2 : tensor<index>
  %1 = tg.mul %0, %c3 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @where_idiv(
// CHECK-NEXT: %[[V0:.*]] = tg.const 25 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V0]], %[[V1]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V2]]
func.func @where_idiv(%p: tensor<i1>) -> tensor<index> {
  %c0 = tg.const 50 : tensor<index>
  %c1 = tg.const 9 : tensor<index>
  %0 = tg.where %p, %c0, %c1 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %c3 = tg.const 2 : tensor<index>
  %1 = tg.idiv %0, %c3 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @where_mod(
// CHECK-NEXT: %[[V0:.*]] = tg.const 2 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.const 1 : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V0]], %[[V1]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V2]]
func.func @where_mod(%p: tensor<i1>) -> tensor<index> {
  %c0 = tg.const 50 : tensor<index>
  %c1 = tg.const 9 : tensor<index>
  %0 = tg.where %p, %c0, %c1 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %c3 = tg.const 4 : tensor<index>
  %1 = tg.mod %0, %c3 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @maximum_of_where_true(
// CHECK-NEXT: %[[V0:.*]] = tg.const 9 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.max %x, %y : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V1]], %[[V0]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V2]]
func.func @maximum_of_where_true(%p: tensor<i1>, %x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 5 : tensor<index>
  %0 = tg.where %p, %x, %c0 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %c2 = tg.const 9 : tensor<index>
  %1 = tg.where %p, %y, %c2 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %2 = tg.max %0, %1 : tensor<index>
  return %2 : tensor<index>
}

// CHECK-LABEL: @maximum_of_where_false(
// CHECK-NEXT: %[[V0:.*]] = tg.const 9 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.max %x, %y : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V0]], %[[V1]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V2]]
func.func @maximum_of_where_false(%p: tensor<i1>, %x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 5 : tensor<index>
  %0 = tg.where %p, %c0, %x : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %c2 = tg.const 9 : tensor<index>
  %1 = tg.where %p, %c2, %y : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %2 = tg.max %0, %1 : tensor<index>
  return %2 : tensor<index>
}

// CHECK-LABEL: @times_where_true(
// CHECK-NEXT: %[[V0:.*]] = tg.mul %x, %y : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.const 45 : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V0]], %[[V1]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V2]]
func.func @times_where_true(%p: tensor<i1>, %x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 5 : tensor<index>
  %0 = tg.where %p, %x, %c0 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %c2 = tg.const 9 : tensor<index>
  %1 = tg.where %p, %y, %c2 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %2 = tg.mul %0, %1 : tensor<index>
  return %2 : tensor<index>
}

// CHECK-LABEL: @times_where_false(
// CHECK-NEXT: %[[V0:.*]] = tg.const 45 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.mul %x, %y : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V0]], %[[V1]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V2]]
func.func @times_where_false(%p: tensor<i1>, %x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c0 = tg.const 5 : tensor<index>
  %0 = tg.where %p, %c0, %x : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %c2 = tg.const 9 : tensor<index>
  %1 = tg.where %p, %c2, %y : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %2 = tg.mul %0, %1 : tensor<index>
  return %2 : tensor<index>
}

// CHECK-LABEL: @product_as_where(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.where %p, %x, %[[V0]] : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @product_as_where(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %p: tensor<i1>) -> tensor<index> {
  %c0 = tg.const 1 : tensor<index>
  %c1 = tg.const 0 : tensor<index>
  %0 = tg.where %p, %c0, %c1 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %1 = tg.mul %x, %0 : tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @where_as_maximum(
// CHECK-NEXT: %[[V0:.*]] = tg.max %x, %y : tensor<index>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_as_maximum(%x: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %y: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %0 = tg.cmplt %x, %y : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.where %0, %y, %x : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @where_of_where_and(
// CHECK-NEXT: %[[V0:.*]] = tg.and %p, %q : tensor<i1>
// CHECK-NEXT: %[[V1:.*]] = tg.where %[[V0]], %a, %b : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @where_of_where_and(%p: tensor<i1>, %q: tensor<i1>, %a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %0 = tg.where %q, %a, %b : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %1 = tg.where %p, %0, %b : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  return %1 : tensor<index>
}

// CHECK-LABEL: @where_of_where_or(
// CHECK-NEXT: %[[V0:.*]] = tg.or %p, %q : tensor<i1>
// CHECK-NEXT: %[[V1:.*]] = tg.where %[[V0]], %a, %b : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT: func.return %[[V1]]
func.func @where_of_where_or(%p: tensor<i1>, %a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %q: tensor<i1>, %b: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %0 = tg.where %q, %a, %b : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %1 = tg.where %p, %a, %0 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  return %1 : tensor<index>
}
