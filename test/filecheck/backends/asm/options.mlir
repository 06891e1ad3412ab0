// RUN: tg-opt %s -t 'asm{triple=aarch64-unknown-linux-gnu cpu=neoverse-v1}' | filecheck %s --check-prefix=ARM
// RUN: tg-opt %s -t 'asm{triple=x86_64-unknown-linux-gnu cpu=x86-64-v3}' | filecheck %s --check-prefix=X86
// RUN: tg-opt %s -t asm | filecheck %s --check-prefix=HOST

// The assembly of the processor that the options name, by default of this machine's.

llvm.func @scale(%x : f32, %y : f32) -> f32 {
  %0 = llvm.fmul %x, %y : f32
  llvm.return %0 : f32
}

// ARM-LABEL: scale:
// ARM:         fmul s0, s0, s1
// ARM:         ret

// X86-LABEL: scale:
// X86:         vmulss %xmm1, %xmm0, %xmm0
// X86:         retq

// HOST:      .globl {{_?}}scale
