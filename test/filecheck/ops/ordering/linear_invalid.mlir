// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{tg.end does not close the innermost open block}}
%0 = tg.linear {
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %j = tg.range 1 loop to %n : tensor<index>
  %e = tg.end %j over %i, %j : tensor<index>
}

// -----

// expected-error@below {{tg.range is never closed}}
%0 = tg.linear {
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
}

// -----

// expected-error@below {{tg.endif does not close the innermost open block}}
%0 = tg.linear {
  %n = tg.const 4 : tensor<index>
  %c = tg.const true : tensor<i1>
  %b = tg.if %c : tensor<i1>
  %i = tg.range 0 loop to %n : tensor<index>
  %d = tg.endif %b
  %e = tg.end %i over %i : tensor<index>
}

// -----

// expected-error@below {{tg.exp2 uses %t after the RANGE or IF around its definition is closed}}
%0 = tg.linear {
  %n = tg.const 4 : tensor<index>
  %c = tg.const 1.0 : tensor<f32>
  %i = tg.range 0 loop to %n : tensor<index>
  %t = tg.exp2 %c : tensor<f32>
  %e = tg.end %t over %i : tensor<f32>
  %u = tg.exp2 %t : tensor<f32>
}

// -----

// expected-error@below {{tg.add uses %i after the RANGE or IF around its definition is closed}}
%0 = tg.linear {
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %e = tg.end %i over %i : tensor<index>
  %u = tg.add %i, %n : tensor<index>
}

// -----

%0 = tg.linear {
  // expected-error@below {{operand #0 (%b) does not dominate this use}}
  %a = tg.exp2 %b : tensor<f32>
  %b = tg.const 1.0 : tensor<f32>
}
