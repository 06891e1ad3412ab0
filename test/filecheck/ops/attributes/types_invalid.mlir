// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{a tuple holds tensors, got f32}}
func.func private @f(!tg.tuple<f32>)

// -----

// expected-error@below {{a tuple holds tensors, got !tg.void}}
func.func private @f(!tg.tuple<!tg.void>)

// -----

// expected-error@below {{'tg.vector' is not registered}}
func.func private @f(!tg.vector)
