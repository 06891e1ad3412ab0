// RUN: tg-opt %s -p canonicalize | filecheck %s --check-prefixes=CHECK,CANON
// RUN: tg-opt %s -p tg-simplify | filecheck %s --check-prefixes=CHECK,SIMPLE

// Each rule of tgdialect/transforms/simplify/identities.py, by its name. tg-simplify leaves arithmetic on floats.

// CHECK-LABEL: @add_0(
// CHECK-NEXT: func.return %m
func.func @add_0(%m: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.add %m, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CANON-LABEL: @add_minus_0(
// CANON-NEXT: func.return %f
// SIMPLE-LABEL: @add_minus_0(
// SIMPLE-NEXT: %[[V0:.*]] = tg.const -0.000000e+00 : tensor<f32>
// SIMPLE-NEXT: %[[V1:.*]] = tg.add %f, %[[V0]] : tensor<f32>
// SIMPLE-NEXT: func.return %[[V1]]
func.func @add_minus_0(%f: tensor<f32>) -> tensor<f32> {
  %c0 = tg.const -0.0 : tensor<f32>
  %0 = tg.add %f, %c0 : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: @sub_0(
// CHECK-NEXT: func.return %a
func.func @sub_0(%a: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.sub %a, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @mul_1(
// CHECK-NEXT: func.return %a
func.func @mul_1(%a: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 1 : tensor<i32>
  %0 = tg.mul %a, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CANON-LABEL: @div_1(
// CANON-NEXT: func.return %f
// SIMPLE-LABEL: @div_1(
// SIMPLE-NEXT: %[[V0:.*]] = tg.const 1.000000e+00 : tensor<f32>
// SIMPLE-NEXT: %[[V1:.*]] = tg.div %f, %[[V0]] : tensor<f32>
// SIMPLE-NEXT: func.return %[[V1]]
func.func @div_1(%f: tensor<f32>) -> tensor<f32> {
  %c0 = tg.const 1.0 : tensor<f32>
  %0 = tg.div %f, %c0 : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: @idiv_1(
// CHECK-NEXT: func.return %x
func.func @idiv_1(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 1 : tensor<i32>
  %0 = tg.idiv %x, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @or_0(
// CHECK-NEXT: func.return %m
func.func @or_0(%m: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.or %m, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @xor_0(
// CHECK-NEXT: func.return %m
func.func @xor_0(%m: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.xor %m, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @and_ones(
// CHECK-NEXT: func.return %m
func.func @and_ones(%m: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const -1 : tensor<i32>
  %0 = tg.and %m, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @shl_0(
// CHECK-NEXT: func.return %x
func.func @shl_0(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.shl %x, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @shr_0(
// CHECK-NEXT: func.return %x
func.func @shr_0(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.shr %x, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @mul_0(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @mul_0(%m: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.mul %m, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @and_0(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @and_0(%m: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.and %m, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @or_ones(
// CHECK-NEXT: %[[V0:.*]] = tg.const -1 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @or_ones(%m: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const -1 : tensor<i32>
  %0 = tg.or %m, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @mod_1(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @mod_1(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 1 : tensor<i32>
  %0 = tg.mod %x, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @idiv_by_0(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @idiv_by_0(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.idiv %x, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @mod_by_0(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @mod_by_0(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.mod %x, %c0 : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @zero_idiv(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @zero_idiv(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.idiv %c0, %x : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @zero_mod(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @zero_mod(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.mod %c0, %x : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @zero_shl(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @zero_shl(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.shl %c0, %x : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @zero_shr(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @zero_shr(%x: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.shr %c0, %x : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @max_of_same(
// CHECK-NEXT: func.return %a
func.func @max_of_same(%a: tensor<i32>) -> tensor<i32> {
  %0 = tg.max %a, %a : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @and_of_same(
// CHECK-NEXT: func.return %m
func.func @and_of_same(%m: tensor<i32>) -> tensor<i32> {
  %0 = tg.and %m, %m : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @or_of_same(
// CHECK-NEXT: func.return %m
func.func @or_of_same(%m: tensor<i32>) -> tensor<i32> {
  %0 = tg.or %m, %m : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @xor_of_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @xor_of_same(%m: tensor<i32>) -> tensor<i32> {
  %0 = tg.xor %m, %m : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @sub_of_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @sub_of_same(%x: tensor<i32>) -> tensor<i32> {
  %0 = tg.sub %x, %x : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @mod_of_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0 : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @mod_of_same(%x: tensor<i32>) -> tensor<i32> {
  %0 = tg.mod %x, %x : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @less_than_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const false : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @less_than_same(%a: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmplt %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @greater_than_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const false : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @greater_than_same(%a: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmpgt %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @at_most_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const true : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @at_most_same(%a: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmple %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @at_least_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const true : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @at_least_same(%a: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmpge %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @not_equal_to_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const false : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @not_equal_to_same(%m: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmpne %m, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @equal_to_same(
// CHECK-NEXT: %[[V0:.*]] = tg.const true : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @equal_to_same(%m: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmpeq %m, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @neg_of_neg(
// CHECK-NEXT: func.return %a
func.func @neg_of_neg(%a: tensor<i32>) -> tensor<i32> {
  %0 = tg.neg %a : tensor<i32>
  %1 = tg.neg %0 : tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @not_of_not(
// CHECK-NEXT: func.return %p
func.func @not_of_not(%p: tensor<i1>) -> tensor<i1> {
  %0 = tg.not %p : tensor<i1>
  %1 = tg.not %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CANON-LABEL: @trunc_of_trunc(
// CANON-NEXT: %[[V0:.*]] = tg.trunc %a : tensor<f32>
// CANON-NEXT: func.return %[[V0]]
// SIMPLE-LABEL: @trunc_of_trunc(
// SIMPLE-NEXT: %[[V0:.*]] = tg.trunc %a : tensor<f32>
// SIMPLE-NEXT: %[[V1:.*]] = tg.trunc %[[V0]] : tensor<f32>
// SIMPLE-NEXT: func.return %[[V1]]
func.func @trunc_of_trunc(%a: tensor<f32>) -> tensor<f32> {
  %0 = tg.trunc %a : tensor<f32>
  %1 = tg.trunc %0 : tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: @trunc_of_integer(
// CHECK-NEXT: func.return %m
func.func @trunc_of_integer(%m: tensor<i32>) -> tensor<i32> {
  %0 = tg.trunc %m : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @not_less(
// CHECK-NEXT: %[[V0:.*]] = tg.cmpge %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @not_less(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmplt %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = tg.not %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CANON-LABEL: @not_greater(
// CANON-NEXT: %[[V0:.*]] = tg.cmple %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CANON-NEXT: func.return %[[V0]]
// SIMPLE-LABEL: @not_greater(
// SIMPLE-NEXT: %[[V0:.*]] = tg.cmpge %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
// SIMPLE-NEXT: func.return %[[V0]]
func.func @not_greater(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmpgt %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = tg.not %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @not_at_least(
// CHECK-NEXT: %[[V0:.*]] = tg.cmplt %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @not_at_least(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmpge %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = tg.not %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CANON-LABEL: @not_at_most(
// CANON-NEXT: %[[V0:.*]] = tg.cmpgt %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CANON-NEXT: func.return %[[V0]]
// SIMPLE-LABEL: @not_at_most(
// SIMPLE-NEXT: %[[V0:.*]] = tg.cmplt %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
// SIMPLE-NEXT: func.return %[[V0]]
func.func @not_at_most(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmple %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = tg.not %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @not_unequal(
// CHECK-NEXT: %[[V0:.*]] = tg.cmpeq %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @not_unequal(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmpne %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = tg.not %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @not_equal(
// CHECK-NEXT: %[[V0:.*]] = tg.cmpne %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @not_equal(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> {
  %0 = tg.cmpeq %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = tg.not %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @where_true(
// CHECK-NEXT: func.return %a
func.func @where_true(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const true : tensor<i1>
  %0 = tg.where %c0, %a, %b : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @where_false(
// CHECK-NEXT: func.return %b
func.func @where_false(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %c0 = tg.const false : tensor<i1>
  %0 = tg.where %c0, %a, %b : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @where_of_same(
// CHECK-NEXT: func.return %a
func.func @where_of_same(%p: tensor<i1>, %a: tensor<i32>) -> tensor<i32> {
  %0 = tg.where %p, %a, %a : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: @where_not(
// CHECK-NEXT: %[[V0:.*]] = tg.where %p, %b, %a : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_not(%p: tensor<i1>, %a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = tg.not %p : tensor<i1>
  %1 = tg.where %0, %a, %b : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @where_in_its_true_branch(
// CHECK-NEXT: %[[V0:.*]] = tg.where %p, %a, %c : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_in_its_true_branch(%p: tensor<i1>, %a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>) -> tensor<i32> {
  %0 = tg.where %p, %a, %b : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = tg.where %p, %0, %c : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @where_in_its_false_branch(
// CHECK-NEXT: %[[V0:.*]] = tg.where %p, %a, %c : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_in_its_false_branch(%p: tensor<i1>, %a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>) -> tensor<i32> {
  %0 = tg.where %p, %b, %c : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = tg.where %p, %a, %0 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @where_as_bool(
// CHECK-NEXT: func.return %p
func.func @where_as_bool(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const true : tensor<i1>
  %c1 = tg.const false : tensor<i1>
  %0 = tg.where %p, %c0, %c1 : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @where_as_not(
// CHECK-NEXT: %[[V0:.*]] = tg.not %p : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_as_not(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const false : tensor<i1>
  %c1 = tg.const true : tensor<i1>
  %0 = tg.where %p, %c0, %c1 : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @where_as_and(
// CHECK-NEXT: %[[V0:.*]] = tg.and %p, %q : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_as_and(%p: tensor<i1>, %q: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const false : tensor<i1>
  %0 = tg.where %p, %q, %c0 : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @where_as_or(
// CHECK-NEXT: %[[V0:.*]] = tg.or %p, %q : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_as_or(%p: tensor<i1>, %q: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const true : tensor<i1>
  %0 = tg.where %p, %c0, %q : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @where_repeated_as_and(
// CHECK-NEXT: %[[V0:.*]] = tg.and %p, %q : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_repeated_as_and(%p: tensor<i1>, %q: tensor<i1>) -> tensor<i1> {
  %0 = tg.where %p, %q, %p : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @where_repeated_as_or(
// CHECK-NEXT: %[[V0:.*]] = tg.or %p, %q : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @where_repeated_as_or(%p: tensor<i1>, %q: tensor<i1>) -> tensor<i1> {
  %0 = tg.where %p, %p, %q : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @unequal_where(
// CHECK-NEXT: func.return %p
func.func @unequal_where(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const 5 : tensor<i32>
  %c1 = tg.const 9 : tensor<i32>
  %0 = tg.where %p, %c0, %c1 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %c3 = tg.const 9 : tensor<i32>
  %1 = tg.cmpne %0, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @equal_where(
// CHECK-NEXT: %[[V0:.*]] = tg.not %p : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @equal_where(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const 5 : tensor<i32>
  %c1 = tg.const 9 : tensor<i32>
  %0 = tg.where %p, %c0, %c1 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %c3 = tg.const 9 : tensor<i32>
  %1 = tg.cmpeq %0, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @where_less(
// CHECK-NEXT: func.return %p
func.func @where_less(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const 5 : tensor<i32>
  %c1 = tg.const 9 : tensor<i32>
  %0 = tg.where %p, %c0, %c1 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %c3 = tg.const 7 : tensor<i32>
  %1 = tg.cmplt %0, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @less_where(
// CHECK-NEXT: %[[V0:.*]] = tg.not %p : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @less_where(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const 7 : tensor<i32>
  %c1 = tg.const 5 : tensor<i32>
  %c2 = tg.const 9 : tensor<i32>
  %0 = tg.where %p, %c1, %c2 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = tg.cmplt %c0, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @unequal_to_false(
// CHECK-NEXT: func.return %p
func.func @unequal_to_false(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const false : tensor<i1>
  %0 = tg.cmpne %p, %c0 : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @unequal_to_true(
// CHECK-NEXT: %[[V0:.*]] = tg.not %p : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @unequal_to_true(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const true : tensor<i1>
  %0 = tg.cmpne %p, %c0 : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @equal_to_true(
// CHECK-NEXT: func.return %p
func.func @equal_to_true(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const true : tensor<i1>
  %0 = tg.cmpeq %p, %c0 : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @equal_to_false(
// CHECK-NEXT: %[[V0:.*]] = tg.not %p : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @equal_to_false(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const false : tensor<i1>
  %0 = tg.cmpeq %p, %c0 : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @xor_true(
// CHECK-NEXT: %[[V0:.*]] = tg.not %p : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @xor_true(%p: tensor<i1>) -> tensor<i1> {
  %c0 = tg.const true : tensor<i1>
  %0 = tg.xor %p, %c0 : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @bool_sum(
// CHECK-NEXT: %[[V0:.*]] = tg.or %p, %q : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @bool_sum(%p: tensor<i1>, %q: tensor<i1>) -> tensor<i1> {
  %0 = tg.add %p, %q : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @bool_product(
// CHECK-NEXT: %[[V0:.*]] = tg.and %p, %q : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @bool_product(%p: tensor<i1>, %q: tensor<i1>) -> tensor<i1> {
  %0 = tg.mul %p, %q : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @bool_maximum(
// CHECK-NEXT: %[[V0:.*]] = tg.or %p, %q : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @bool_maximum(%p: tensor<i1>, %q: tensor<i1>) -> tensor<i1> {
  %0 = tg.max %p, %q : tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: @contradiction(
// CHECK-NEXT: %[[V0:.*]] = tg.const false : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @contradiction(%p: tensor<i1>) -> tensor<i1> {
  %0 = tg.not %p : tensor<i1>
  %1 = tg.and %p, %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @excluded_middle(
// CHECK-NEXT: %[[V0:.*]] = tg.const true : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @excluded_middle(%p: tensor<i1>) -> tensor<i1> {
  %0 = tg.not %p : tensor<i1>
  %1 = tg.or %p, %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @xor_of_opposites(
// CHECK-NEXT: %[[V0:.*]] = tg.const true : tensor<i1>
// CHECK-NEXT: func.return %[[V0]]
func.func @xor_of_opposites(%p: tensor<i1>) -> tensor<i1> {
  %0 = tg.not %p : tensor<i1>
  %1 = tg.xor %p, %0 : tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: @absorbed_and(
// CHECK-NEXT: func.return %m
func.func @absorbed_and(%m: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {
  %0 = tg.or %m, %n : tensor<i32>
  %1 = tg.and %m, %0 : tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @absorbed_or(
// CHECK-NEXT: func.return %m
func.func @absorbed_or(%m: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {
  %0 = tg.and %m, %n : tensor<i32>
  %1 = tg.or %m, %0 : tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @repeated_and(
// CHECK-NEXT: %[[V0:.*]] = tg.and %m, %n : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @repeated_and(%m: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {
  %0 = tg.and %m, %n : tensor<i32>
  %1 = tg.and %m, %0 : tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @repeated_or(
// CHECK-NEXT: %[[V0:.*]] = tg.or %m, %n : tensor<i32>
// CHECK-NEXT: func.return %[[V0]]
func.func @repeated_or(%m: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {
  %0 = tg.or %m, %n : tensor<i32>
  %1 = tg.or %m, %0 : tensor<i32>
  return %1 : tensor<i32>
}

// CHECK-LABEL: @cancelled_xor(
// CHECK-NEXT: func.return %n
func.func @cancelled_xor(%m: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {
  %0 = tg.xor %m, %n : tensor<i32>
  %1 = tg.xor %m, %0 : tensor<i32>
  return %1 : tensor<i32>
}
