// RUN: env TG_CACHE_DIR= TG_BEAM_SECONDS=1 tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode="beam:2"},tg-verify{level=kernels})' | filecheck %s
// RUN: not tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode="beam:0"})' 2>&1 | filecheck %s --check-prefix=WIDTH
// RUN: not tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=beam opts="split 0, 4, upcast"})' 2>&1 | filecheck %s --check-prefix=OPTS
// RUN: not env TG_BEAM_SECONDS=soon tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=beam})' 2>&1 | filecheck %s --check-prefix=SECONDS

// mode="beam:N" records the OptOps that a search on this machine has found: which, the machine says.

// CHECK: tg.kernel @main_0
// CHECK: tg.sink %{{.*}} opts [{{.*}}] : !tg.void

// WIDTH: error: pass tg-optimize: mode 'beam:0': the width of a beam is a positive number
// OPTS: error: pass tg-optimize: mode 'beam' takes no opts: mode=explicit does
// SECONDS: error: TG_BEAM_SECONDS is 'soon', not a positive number of seconds

func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = tg.neg %a : tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
