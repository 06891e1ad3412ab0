// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{the name of a device is not empty}}
%d = tg_legacy.device ""

// -----

// expected-error@below {{property 'device' expected in operation 'tg_legacy.device'}}
%d = "tg_legacy.device"() : () -> !tg.void

// -----

// expected-error@below {{["A", "B"] should be of base attribute string}}
%d = "tg_legacy.device"() <{device = ["A", "B"]}> : () -> !tg.void

// -----

// expected-error@below {{result 'result' at position 0 does not verify: Expected attribute !tg.void but got tensor<f32>}}
%d = "tg_legacy.device"() <{device = "CPU"}> : () -> tensor<f32>
