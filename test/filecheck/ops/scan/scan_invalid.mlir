// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%h: tensor<4xf32>) {
  // expected-error@below {{the numbers of states and sequences are not negative, and there is a step}}
  %r = tg.scan(%h) states 1 sequences 0 steps 0 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>) {
  // expected-error@below {{the numbers of states and sequences are not negative, and there is a step}}
  %r = tg.scan(%h) states -1 sequences 2 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<2x4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error@below {{the body has 1 parameters for 2 arguments, of which 1 are states and 0 sequences}}
  %r = tg.scan(%h, %c) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>) {
  // expected-error@below {{the body has 1 parameters for 1 arguments, of which 1 are states and 1 sequences}}
  %r = tg.scan(%h) states 1 sequences 1 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>, %g: tensor<4xf32>) {
  // expected-error@below {{the body gives 1 values for 2 states}}
  %r = tg.scan(%h, %g) states 2 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %u = tg.param 1 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<5xf32>) {
  // expected-error@below {{argument 0 is tensor<5xf32>, the parameter tensor<4xf32>}}
  %r = tg.scan(%h) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<5xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf16>) {
  // expected-error@below {{argument 0 is tensor<4xf16>, the parameter tensor<4xf32>}}
  %r = tg.scan(%h) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf16> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>) {
  // expected-error@below {{state 0 is tensor<2xf32>, the parameter tensor<4xf32>}}
  %r = tg.scan(%h) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %n = tg.shrink %s at [0] to [2] : tensor<4xf32> -> tensor<2xf32>
    %t = tg.tuple %n : tensor<2xf32> -> !tg.tuple<tensor<2xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<2xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>) {
  // expected-error@below {{state 0 is tensor<4xi32>, the parameter tensor<4xf32>}}
  %r = tg.scan(%h) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %n = tg.cast %s to i32 : tensor<4xf32> -> tensor<4xi32>
    %t = tg.tuple %n : tensor<4xi32> -> !tg.tuple<tensor<4xi32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xi32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>, %xs: tensor<3x4xf32>) {
  // expected-error@below {{sequence 1 is tensor<3x4xf32>, for 2 steps}}
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.add %s, %x : tensor<4xf32>
    %t = tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<3x4xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>, %xs: tensor<f32>) {
  // expected-error@below {{sequence 1 is tensor<f32>, for 2 steps}}
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.add %s, %x : tensor<4xf32>
    %t = tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>, %xs: tensor<2x5xf32>) {
  // expected-error@below {{elements of sequence 1 are of tensor<2x5xf32>, not tensor<4xf32>}}
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.add %s, %x : tensor<4xf32>
    %t = tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<2x5xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>, %xs: tensor<2x4xi32>) {
  // expected-error@below {{elements of sequence 1 are of tensor<2x4xi32>, not tensor<4xf32>}}
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.add %s, %x : tensor<4xf32>
    %t = tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<2x4xi32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>, %w: tensor<2xf32>) {
  // expected-error@below {{argument 1 is tensor<2xf32>, the parameter tensor<4xf32>}}
  %r = tg.scan(%h, %w) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.add %s, %x : tensor<4xf32>
    %t = tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<2xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%n: tensor<index>) {
  %b = tg.buffer 0 (%n) : tensor<?xf32, #tg.place<"CPU", global>>
  // expected-error@below {{axis 0 of argument 0, of %n cells, is not known to have those of the parameter; name the extent}}
  %r = tg.scan(%b) states 0 sequences 0 steps 2 {
    %m = tg.const 4 : tensor<index>
    %c = tg.param 0 (%m) : tensor<?xf32>
    %t = tg.tuple %c : tensor<?xf32> -> !tg.tuple<tensor<?xf32>>
  } : tensor<?xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<2x?xf32, #tg.place<"CPU">>>
  func.return
}

// -----

// An extent is that argument which its PARAM is, and no other one.

func.func @f(%n: tensor<index>, %m: tensor<index>, %h: tensor<?xf32> {tg.dims = array<i64: 0>}) {
  // expected-error@below {{axis 0 of argument 0, of %n cells, is not known to have those of the parameter}}
  %r = tg.scan(%h, %m) states 1 sequences 0 steps 2 {
    %k = tg.param 1 : tensor<index>
    %s = tg.param 0 (%k) : tensor<?xf32>
    %t = tg.tuple %s : tensor<?xf32> -> !tg.tuple<tensor<?xf32>>
  } : (tensor<?xf32>, tensor<index>) -> !tg.tuple<tensor<?xf32>>
  func.return
}

// -----

func.func @f(%n: tensor<index>, %m: tensor<index>, %xs: tensor<?xf32> {tg.dims = array<i64: 0>}) {
  // expected-error@below {{sequence 0 is tensor<?xf32>, for %m steps}}
  %r = tg.scan(%xs, %m) states 0 sequences 1 steps_at 1 {
    %k = tg.param 1 : tensor<index>
    %x = tg.param 0 : tensor<f32>
    %t = tg.tuple %x : tensor<f32> -> !tg.tuple<tensor<f32>>
  } : (tensor<?xf32>, tensor<index>) -> !tg.tuple<tensor<?xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<f32>, %n: tensor<index>) {
  // expected-error@below {{argument 0 is the number of steps, and no constant tensor<index>}}
  %r = tg.scan(%h, %n) states 1 sequences 0 steps_at 0 {
    %s = tg.param 0 : tensor<f32>
    %k = tg.param 1 : tensor<index>
    %t = tg.tuple %s : tensor<f32> -> !tg.tuple<tensor<f32>>
  } : (tensor<f32>, tensor<index>) -> !tg.tuple<tensor<f32>>
  func.return
}

// -----

func.func @f(%h: tensor<f32>, %n: tensor<index>) {
  // expected-error@below {{a SCAN has either `steps` or `steps_at`}}
  %r = tg.scan(%h, %n) states 1 sequences 0 steps 2 steps_at 1 {
    %s = tg.param 0 : tensor<f32>
    %k = tg.param 1 : tensor<index>
    %t = tg.tuple %s : tensor<f32> -> !tg.tuple<tensor<f32>>
  } : (tensor<f32>, tensor<index>) -> !tg.tuple<tensor<f32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32, #tg.place<["CPU:0", "CPU:1"], axis = 0>>) {
  // expected-error@below {{argument 0 is split among devices: a SCAN takes it whole}}
  %r = tg.scan(%h) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32, #tg.place<["CPU:0", "CPU:1"], axis = 0>> -> !tg.tuple<tensor<4xf32, #tg.place<["CPU:0", "CPU:1"]>>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>) {
  // expected-error@below {{the first state of a SCAN with `while` is a tensor<i1>}}
  %r = tg.scan(%h) states 1 sequences 0 steps 2 while {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xi1>) {
  // expected-error@below {{the first state of a SCAN with `while` is a tensor<i1>}}
  %r = tg.scan(%h) states 1 sequences 0 steps 2 while {
    %s = tg.param 0 : tensor<4xi1>
    %t = tg.tuple %s : tensor<4xi1> -> !tg.tuple<tensor<4xi1>>
  } : tensor<4xi1> -> !tg.tuple<tensor<4xi1>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the first state of a SCAN with `while` is a tensor<i1>}}
  %r = tg.scan() states 0 sequences 0 steps 2 while {
    %t = tg.tuple : () -> !tg.tuple<>
  } : !tg.tuple<>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>) {
  // expected-error@below {{the result type is written as !tg.tuple<tensor<4xf32>>, but the op gives !tg.tuple<tensor<2x4xf32>>}}
  %r = tg.scan(%h) states 0 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>) {
  // expected-error@below {{the body of a scan ends in a tg.tuple}}
  %r = tg.scan(%h) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32>, %g: tensor<4xf32>) {
  %r = tg.scan(%h, %g) states 1 sequences 0 steps 2 {
    // expected-error@below {{slots are not dense: there is no slot 0}}
    %s = tg.param 1 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%h: tensor<4xf32, #tg.place<"CPU", global>>) {
  %r = tg.scan(%h) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32, #tg.place<"CPU", global>>
    // expected-error@below {{this tg.store has an effect on memory that is not the step's own}}
    %e = tg.store %s, %s : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>
    %t = tg.tuple %s : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU", global>>>
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  %b = tg.exp2 %a : tensor<4xf32>
  // expected-error@below {{Operation using value defined out of its IsolatedFromAbove parent}}
  %r = tg.scan() states 0 sequences 0 steps 2 {
    %t = tg.tuple %b : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : !tg.tuple<tensor<2x4xf32>>
  func.return
}
