// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{Expected `add`, `mul`, or `max`}}
"test.op"() {b = #tg<reduce_kind min>} : () -> ()

// -----

// expected-error@below {{Expected `global`, `local`, `warp`}}
"test.op"() {b = #tg<axis_type outer>} : () -> ()
