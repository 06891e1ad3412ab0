// RUN: not tg-opt %s --pass-pipeline='builtin.module(tg-decompose{ops=exp2,cosh})' 2>&1 | filecheck %s

// CHECK: 'cosh' is not a decomposed op: neg, not, exp2, log2, exp,
