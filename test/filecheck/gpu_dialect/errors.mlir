// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{duplicate or unknown parameter 'chop'}}
gpu.module @kernels [#nvvm.target<chop = "sm_90">] {
}

// -----

// expected-error@below {{nvvm.target: 'chip' cannot be 90 : i64}}
gpu.module @kernels [#nvvm.target<chip = 90>] {
}

// -----

func.func @main(%i: index) {
  // expected-error@below {{expected 'threads in'}}
  gpu.launch_func @kernels::@k blocks in (%i, %i, %i)
  func.return
}

// -----

func.func @main(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>) {
  // expected-error@below {{a copy is of 4, 8 or 16 bytes, not -4}}
  nvvm.cp.async.shared.global %to, %from, -4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  func.return
}
