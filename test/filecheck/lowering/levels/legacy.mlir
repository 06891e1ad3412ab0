// RUN: tg-opt %s -p tg-callify --verify-diagnostics

// A stage names the pass that leaves the older vocabularies.

// expected-error@+1 {{tg-callify needs level tensor, and the module has ops of tg_legacy: run tg-upgrade-legacy first}}
tg.program @k {
  %0 = tg.linear {
    %1 = tg_legacy.define_global 0 : tensor<4xf32, #tg.place<global>>
  }
}
