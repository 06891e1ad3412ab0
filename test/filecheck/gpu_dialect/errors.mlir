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
