// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{Expected 'axis' (a device, global, local, reg or axis = N)}}
func.func private @f(tensor<4xf32, #tg.place<>>)

// -----

// expected-error@below {{Expected 'axis' (a device, global, local, reg or axis = N)}}
func.func private @f(tensor<4xf32, #tg.place<shared>>)

// -----

// expected-error@below {{Expected 'axis' (a device, global, local, reg or axis = N)}}
func.func private @f(tensor<4xf32, #tg.place<"A", 3>>)

// -----

// expected-error@below {{a sharding axis needs a tuple of devices}}
func.func private @f(tensor<4xf32, #tg.place<"A", axis = 0>>)

// -----

// expected-error@below {{a sharding axis needs a tuple of devices}}
func.func private @f(tensor<4xf32, #tg.place<axis = 0>>)

// -----

// expected-error@below {{the sharding axis is negative: -1}}
func.func private @f(tensor<4xf32, #tg.place<["A", "B"], axis = -1>>)

// -----

// expected-error@below {{a device tuple holds one or more distinct devices}}
func.func private @f(tensor<4xf32, #tg.place<[]>>)

// -----

// expected-error@below {{a device tuple holds one or more distinct devices}}
func.func private @f(tensor<4xf32, #tg.place<["A", "A"]>>)

// -----

// expected-error@below {{Expected 'axis' (a device, global, local, reg or axis = N)}}
func.func private @f(tensor<4xf32, #tg.place<global, "A">>)
