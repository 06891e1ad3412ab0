// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --entry floats_main --input 4,0.25 --digits 4 --target interpreter | filecheck %s --check-prefix=RESULT1
// RUN: tg-run %s --entry floats_main --input 4,0.25 --digits 4 --target cpu | filecheck %s --check-prefix=RESULT1
// RESULT1: dense<[16.0, 1.189, 2.0, -2.0, -0.7568, 0.2474, 2.0, 0.5, 0.25, 4.0, -4.0, -0.25, 4.25, 3.75, 1.0, 16.0, 4.0, 1.0]> : tensor<18xf32>
// RUN: tg-run %s --entry integers_main --input -7,2 --target interpreter | filecheck %s --check-prefix=RESULT2
// RUN: tg-run %s --entry integers_main --input -7,2 --target cpu | filecheck %s --check-prefix=RESULT2
// RESULT2: dense<[-5, -9, -14, -3, -1, 2, -5, -28, -2, -5, 0, 1, 1, 0, 2, -12]> : tensor<16xi32>

// ALU: each operation of the tutorial's age is an elementwise op.

tg.program @floats {
  %0 = tg.linear {
    %out = tg_legacy.define_global 0 : tensor<18xf32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<2xf32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %c5 = tg.const 5 : tensor<i32>
    %c6 = tg.const 6 : tensor<i32>
    %c7 = tg.const 7 : tensor<i32>
    %c8 = tg.const 8 : tensor<i32>
    %c9 = tg.const 9 : tensor<i32>
    %c10 = tg.const 10 : tensor<i32>
    %c11 = tg.const 11 : tensor<i32>
    %c12 = tg.const 12 : tensor<i32>
    %c13 = tg.const 13 : tensor<i32>
    %c14 = tg.const 14 : tensor<i32>
    %c15 = tg.const 15 : tensor<i32>
    %c16 = tg.const 16 : tensor<i32>
    %c17 = tg.const 17 : tensor<i32>
    %x = tg_legacy.load %a at %c0 : tensor<2xf32, #tg.place<global>> at tensor<i32> -> tensor<f32>
    %y = tg_legacy.load %a at %c1 : tensor<2xf32, #tg.place<global>> at tensor<i32> -> tensor<f32>
    %zero = tg.const 0.0 : tensor<f32>
    // CHECK-LABEL: tg.kernel @floats {
    // CHECK: %r0 = tg.exp2 %x : tensor<f32>
    // CHECK: %r2 = tg.log2 %x : tensor<f32>
    // CHECK: %r4 = tg.sin %x : tensor<f32>
    // CHECK: %r6 = tg.sqrt %x : tensor<f32>
    // CHECK: %r8 = tg.recip %x : tensor<f32>
    // CHECK: %r10 = tg.neg %x : tensor<f32>
    // CHECK: %r12 = tg.add %x, %y : tensor<f32>
    // CHECK: %r13 = tg.sub %x, %y : tensor<f32>
    // CHECK: %r14 = tg.mul %x, %y : tensor<f32>
    // CHECK: %r15 = tg.div %x, %y : tensor<f32>
    // CHECK: %r16 = tg.max %x, %y : tensor<f32>
    // CHECK: %r17 = tg.mulacc %x, %y, %zero : tensor<f32>
    %r0 = tg_legacy.alu "UnaryOps.EXP2" %x : tensor<f32>
    %s0 = tg_legacy.store %out at %c0 value %r0 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r1 = tg_legacy.alu "UnaryOps.EXP2" %y : tensor<f32>
    %s1 = tg_legacy.store %out at %c1 value %r1 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r2 = tg_legacy.alu "UnaryOps.LOG2" %x : tensor<f32>
    %s2 = tg_legacy.store %out at %c2 value %r2 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r3 = tg_legacy.alu "UnaryOps.LOG2" %y : tensor<f32>
    %s3 = tg_legacy.store %out at %c3 value %r3 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r4 = tg_legacy.alu "UnaryOps.SIN" %x : tensor<f32>
    %s4 = tg_legacy.store %out at %c4 value %r4 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r5 = tg_legacy.alu "UnaryOps.SIN" %y : tensor<f32>
    %s5 = tg_legacy.store %out at %c5 value %r5 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r6 = tg_legacy.alu "UnaryOps.SQRT" %x : tensor<f32>
    %s6 = tg_legacy.store %out at %c6 value %r6 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r7 = tg_legacy.alu "UnaryOps.SQRT" %y : tensor<f32>
    %s7 = tg_legacy.store %out at %c7 value %r7 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r8 = tg_legacy.alu "UnaryOps.RECIP" %x : tensor<f32>
    %s8 = tg_legacy.store %out at %c8 value %r8 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r9 = tg_legacy.alu "UnaryOps.RECIP" %y : tensor<f32>
    %s9 = tg_legacy.store %out at %c9 value %r9 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r10 = tg_legacy.alu "UnaryOps.NEG" %x : tensor<f32>
    %s10 = tg_legacy.store %out at %c10 value %r10 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r11 = tg_legacy.alu "UnaryOps.NEG" %y : tensor<f32>
    %s11 = tg_legacy.store %out at %c11 value %r11 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r12 = tg_legacy.alu "BinaryOps.ADD" %x, %y : tensor<f32>
    %s12 = tg_legacy.store %out at %c12 value %r12 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r13 = tg_legacy.alu "BinaryOps.SUB" %x, %y : tensor<f32>
    %s13 = tg_legacy.store %out at %c13 value %r13 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r14 = tg_legacy.alu "BinaryOps.MUL" %x, %y : tensor<f32>
    %s14 = tg_legacy.store %out at %c14 value %r14 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r15 = tg_legacy.alu "BinaryOps.DIV" %x, %y : tensor<f32>
    %s15 = tg_legacy.store %out at %c15 value %r15 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r16 = tg_legacy.alu "BinaryOps.MAX" %x, %y : tensor<f32>
    %s16 = tg_legacy.store %out at %c16 value %r16 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %r17 = tg_legacy.alu "TernaryOps.MULACC" %x, %y, %zero : tensor<f32>
    %s17 = tg_legacy.store %out at %c17 value %r17 : tensor<18xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
  }
}

// The older IDIV, MOD and DIV of integers round toward zero.
tg.program @integers {
  %0 = tg.linear {
    %out = tg_legacy.define_global 0 : tensor<16xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<2xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %c5 = tg.const 5 : tensor<i32>
    %c6 = tg.const 6 : tensor<i32>
    %c7 = tg.const 7 : tensor<i32>
    %c8 = tg.const 8 : tensor<i32>
    %c9 = tg.const 9 : tensor<i32>
    %c10 = tg.const 10 : tensor<i32>
    %c11 = tg.const 11 : tensor<i32>
    %c12 = tg.const 12 : tensor<i32>
    %c13 = tg.const 13 : tensor<i32>
    %c14 = tg.const 14 : tensor<i32>
    %c15 = tg.const 15 : tensor<i32>
    %x = tg_legacy.load %a at %c0 : tensor<2xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %y = tg_legacy.load %a at %c1 : tensor<2xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    // CHECK-LABEL: tg.kernel @integers {
    // CHECK: %9 = tg.idiv %x, %y : tensor<i32>
    // CHECK-NEXT: %10 = tg.mod %x, %y : tensor<i32>
    // CHECK: %14 = tg.xor %12, %13 : tensor<i1>
    // CHECK: %r3 = tg.where %16, %17, %9 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    // CHECK: %20 = tg.mod %x, %y : tensor<i32>
    // CHECK: %r4 = tg.where %26, %27, %20 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    // CHECK: %r7 = tg.shl %x, %y : tensor<i32>
    // CHECK: %r8 = tg.shr %x, %y : tensor<i32>
    // CHECK: %b13 = tg.cmpeq %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: %r14 = tg.where %b13, %x, %y : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %r0 = tg_legacy.alu "BinaryOps.ADD" %x, %y : tensor<i32>
    %s0 = tg_legacy.store %out at %c0 value %r0 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r1 = tg_legacy.alu "BinaryOps.SUB" %x, %y : tensor<i32>
    %s1 = tg_legacy.store %out at %c1 value %r1 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r2 = tg_legacy.alu "BinaryOps.MUL" %x, %y : tensor<i32>
    %s2 = tg_legacy.store %out at %c2 value %r2 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r3 = tg_legacy.alu "BinaryOps.IDIV" %x, %y : tensor<i32>
    %s3 = tg_legacy.store %out at %c3 value %r3 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r4 = tg_legacy.alu "BinaryOps.MOD" %x, %y : tensor<i32>
    %s4 = tg_legacy.store %out at %c4 value %r4 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r5 = tg_legacy.alu "BinaryOps.MAX" %x, %y : tensor<i32>
    %s5 = tg_legacy.store %out at %c5 value %r5 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r6 = tg_legacy.alu "BinaryOps.XOR" %x, %y : tensor<i32>
    %s6 = tg_legacy.store %out at %c6 value %r6 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r7 = tg_legacy.alu "BinaryOps.SHL" %x, %y : tensor<i32>
    %s7 = tg_legacy.store %out at %c7 value %r7 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r8 = tg_legacy.alu "BinaryOps.SHR" %x, %y : tensor<i32>
    %s8 = tg_legacy.store %out at %c8 value %r8 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r9 = tg_legacy.alu "BinaryOps.OR" %x, %y : tensor<i32>
    %s9 = tg_legacy.store %out at %c9 value %r9 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r10 = tg_legacy.alu "BinaryOps.AND" %x, %y : tensor<i32>
    %s10 = tg_legacy.store %out at %c10 value %r10 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %b11 = tg_legacy.alu "BinaryOps.CMPLT" %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r11 = tg.cast %b11 to i32 : tensor<i1> -> tensor<i32>
    %s11 = tg_legacy.store %out at %c11 value %r11 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %b12 = tg_legacy.alu "BinaryOps.CMPNE" %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r12 = tg.cast %b12 to i32 : tensor<i1> -> tensor<i32>
    %s12 = tg_legacy.store %out at %c12 value %r12 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %b13 = tg_legacy.alu "BinaryOps.CMPEQ" %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r13 = tg.cast %b13 to i32 : tensor<i1> -> tensor<i32>
    %s13 = tg_legacy.store %out at %c13 value %r13 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r14 = tg_legacy.alu "TernaryOps.WHERE" %b13, %x, %y : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %s14 = tg_legacy.store %out at %c14 value %r14 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %r15 = tg_legacy.alu "TernaryOps.MULACC" %x, %y, %y : tensor<i32>
    %s15 = tg_legacy.store %out at %c15 value %r15 : tensor<16xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  }
}
