// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%f: tensor<f32>, %i: tensor<i32>, %u: tensor<ui8>, %b: tensor<i1>, %v: tensor<4xf32>) {
  // CHECK: %exp2 = tg_legacy.alu "UnaryOps.EXP2" %f : tensor<f32>
  // GENERIC: %exp2 = "tg_legacy.alu"(%f) <{operation = "UnaryOps.EXP2"}> : (tensor<f32>) -> tensor<f32>
  %exp2 = tg_legacy.alu "UnaryOps.EXP2" %f : tensor<f32>
  // CHECK: %log2 = tg_legacy.alu "UnaryOps.LOG2" %f : tensor<f32>
  // GENERIC: %log2 = "tg_legacy.alu"(%f) <{operation = "UnaryOps.LOG2"}> : (tensor<f32>) -> tensor<f32>
  %log2 = tg_legacy.alu "UnaryOps.LOG2" %f : tensor<f32>
  // CHECK: %sin = tg_legacy.alu "UnaryOps.SIN" %f : tensor<f32>
  // GENERIC: %sin = "tg_legacy.alu"(%f) <{operation = "UnaryOps.SIN"}> : (tensor<f32>) -> tensor<f32>
  %sin = tg_legacy.alu "UnaryOps.SIN" %f : tensor<f32>
  // CHECK: %sqrt = tg_legacy.alu "UnaryOps.SQRT" %f : tensor<f32>
  // GENERIC: %sqrt = "tg_legacy.alu"(%f) <{operation = "UnaryOps.SQRT"}> : (tensor<f32>) -> tensor<f32>
  %sqrt = tg_legacy.alu "UnaryOps.SQRT" %f : tensor<f32>
  // CHECK: %recip = tg_legacy.alu "UnaryOps.RECIP" %f : tensor<f32>
  // GENERIC: %recip = "tg_legacy.alu"(%f) <{operation = "UnaryOps.RECIP"}> : (tensor<f32>) -> tensor<f32>
  %recip = tg_legacy.alu "UnaryOps.RECIP" %f : tensor<f32>
  // CHECK: %neg = tg_legacy.alu "UnaryOps.NEG" %i : tensor<i32>
  // GENERIC: %neg = "tg_legacy.alu"(%i) <{operation = "UnaryOps.NEG"}> : (tensor<i32>) -> tensor<i32>
  %neg = tg_legacy.alu "UnaryOps.NEG" %i : tensor<i32>
  // CHECK: %add = tg_legacy.alu "BinaryOps.ADD" %i, %i : tensor<i32>
  // GENERIC: %add = "tg_legacy.alu"(%i, %i) <{operation = "BinaryOps.ADD"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %add = tg_legacy.alu "BinaryOps.ADD" %i, %i : tensor<i32>
  // CHECK: %sub = tg_legacy.alu "BinaryOps.SUB" %i, %i : tensor<i32>
  // GENERIC: %sub = "tg_legacy.alu"(%i, %i) <{operation = "BinaryOps.SUB"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %sub = tg_legacy.alu "BinaryOps.SUB" %i, %i : tensor<i32>
  // CHECK: %mul = tg_legacy.alu "BinaryOps.MUL" %v, %v : tensor<4xf32>
  // GENERIC: %mul = "tg_legacy.alu"(%v, %v) <{operation = "BinaryOps.MUL"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %mul = tg_legacy.alu "BinaryOps.MUL" %v, %v : tensor<4xf32>
  // CHECK: %div = tg_legacy.alu "BinaryOps.DIV" %f, %f : tensor<f32>
  // GENERIC: %div = "tg_legacy.alu"(%f, %f) <{operation = "BinaryOps.DIV"}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %div = tg_legacy.alu "BinaryOps.DIV" %f, %f : tensor<f32>
  // CHECK: %quotient = tg_legacy.alu "BinaryOps.DIV" %i, %i : tensor<i32>
  // GENERIC: %quotient = "tg_legacy.alu"(%i, %i) <{operation = "BinaryOps.DIV"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %quotient = tg_legacy.alu "BinaryOps.DIV" %i, %i : tensor<i32>
  // CHECK: %idiv = tg_legacy.alu "BinaryOps.IDIV" %i, %i : tensor<i32>
  // GENERIC: %idiv = "tg_legacy.alu"(%i, %i) <{operation = "BinaryOps.IDIV"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %idiv = tg_legacy.alu "BinaryOps.IDIV" %i, %i : tensor<i32>
  // CHECK: %mod = tg_legacy.alu "BinaryOps.MOD" %i, %i : tensor<i32>
  // GENERIC: %mod = "tg_legacy.alu"(%i, %i) <{operation = "BinaryOps.MOD"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %mod = tg_legacy.alu "BinaryOps.MOD" %i, %i : tensor<i32>
  // CHECK: %max = tg_legacy.alu "BinaryOps.MAX" %f, %f : tensor<f32>
  // GENERIC: %max = "tg_legacy.alu"(%f, %f) <{operation = "BinaryOps.MAX"}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %max = tg_legacy.alu "BinaryOps.MAX" %f, %f : tensor<f32>
  // CHECK: %cmplt = tg_legacy.alu "BinaryOps.CMPLT" %f, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // GENERIC: %cmplt = "tg_legacy.alu"(%f, %f) <{operation = "BinaryOps.CMPLT"}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %cmplt = tg_legacy.alu "BinaryOps.CMPLT" %f, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // CHECK: %cmpne = tg_legacy.alu "BinaryOps.CMPNE" %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // GENERIC: %cmpne = "tg_legacy.alu"(%i, %i) <{operation = "BinaryOps.CMPNE"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %cmpne = tg_legacy.alu "BinaryOps.CMPNE" %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // CHECK: %cmpeq = tg_legacy.alu "BinaryOps.CMPEQ" %b, %b : tensor<i1>
  // GENERIC: %cmpeq = "tg_legacy.alu"(%b, %b) <{operation = "BinaryOps.CMPEQ"}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %cmpeq = tg_legacy.alu "BinaryOps.CMPEQ" %b, %b : tensor<i1>
  // CHECK: %xor = tg_legacy.alu "BinaryOps.XOR" %b, %b : tensor<i1>
  // GENERIC: %xor = "tg_legacy.alu"(%b, %b) <{operation = "BinaryOps.XOR"}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %xor = tg_legacy.alu "BinaryOps.XOR" %b, %b : tensor<i1>
  // CHECK: %shl = tg_legacy.alu "BinaryOps.SHL" %i, %u : (tensor<i32>, tensor<ui8>) -> tensor<i32>
  // GENERIC: %shl = "tg_legacy.alu"(%i, %u) <{operation = "BinaryOps.SHL"}> : (tensor<i32>, tensor<ui8>) -> tensor<i32>
  %shl = tg_legacy.alu "BinaryOps.SHL" %i, %u : (tensor<i32>, tensor<ui8>) -> tensor<i32>
  // CHECK: %shr = tg_legacy.alu "BinaryOps.SHR" %i, %i : tensor<i32>
  // GENERIC: %shr = "tg_legacy.alu"(%i, %i) <{operation = "BinaryOps.SHR"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %shr = tg_legacy.alu "BinaryOps.SHR" %i, %i : tensor<i32>
  // CHECK: %or = tg_legacy.alu "BinaryOps.OR" %i, %i : tensor<i32>
  // GENERIC: %or = "tg_legacy.alu"(%i, %i) <{operation = "BinaryOps.OR"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %or = tg_legacy.alu "BinaryOps.OR" %i, %i : tensor<i32>
  // CHECK: %and = tg_legacy.alu "BinaryOps.AND" %b, %b : tensor<i1>
  // GENERIC: %and = "tg_legacy.alu"(%b, %b) <{operation = "BinaryOps.AND"}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %and = tg_legacy.alu "BinaryOps.AND" %b, %b : tensor<i1>
  // CHECK: %where = tg_legacy.alu "TernaryOps.WHERE" %b, %f, %f : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  // GENERIC: %where = "tg_legacy.alu"(%b, %f, %f) <{operation = "TernaryOps.WHERE"}> : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %where = tg_legacy.alu "TernaryOps.WHERE" %b, %f, %f : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: %mulacc = tg_legacy.alu "TernaryOps.MULACC" %f, %f, %f : tensor<f32>
  // GENERIC: %mulacc = "tg_legacy.alu"(%f, %f, %f) <{operation = "TernaryOps.MULACC"}> : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %mulacc = tg_legacy.alu "TernaryOps.MULACC" %f, %f, %f : tensor<f32>
  // CHECK: %broadcast = tg_legacy.alu "BinaryOps.ADD" %f, %v : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: %broadcast = "tg_legacy.alu"(%f, %v) <{operation = "BinaryOps.ADD"}> : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %broadcast = tg_legacy.alu "BinaryOps.ADD" %f, %v : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}
