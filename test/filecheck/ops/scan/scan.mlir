// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s
// RUN: tg-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// States keep their types, and what is stacked gets an axis of steps.

func.func @stacks(%h: tensor<4xf32>, %xs: tensor<8x4xf32>, %w: tensor<f32>) {
  // CHECK-LABEL: @stacks
  // CHECK: %r = tg.scan(%h, %xs, %w) states 1 sequences 1 steps 8 {
  // CHECK: } : (tensor<4xf32>, tensor<8x4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>, tensor<8x4xf32>>
  // GENERIC: %r = "tg.scan"(%h, %xs, %w) <{states = #tg.number<1>, sequences = #tg.number<1>, steps = #tg.number<8>}> ({
  // GENERIC: }) : (tensor<4xf32>, tensor<8x4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>, tensor<8x4xf32>>
  %r = tg.scan(%h, %xs, %w) states 1 sequences 1 steps 8 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %c = tg.param 2 : tensor<f32>
    %p = tg.mul %s, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %n = tg.add %p, %x : tensor<4xf32>
    %t = tg.tuple %n, %p : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32>, tensor<8x4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>, tensor<8x4xf32>>
  func.return
}

func.func @backwards(%h: tensor<4xf32>, %xs: tensor<8x4xf32>) {
  // CHECK-LABEL: @backwards
  // CHECK: %r = tg.scan(%h, %xs) states 1 sequences 1 steps 8 reverse {
  // GENERIC: "tg.scan"(%h, %xs) <{states = #tg.number<1>, sequences = #tg.number<1>, steps = #tg.number<8>, reverse}> ({
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 8 reverse {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.add %s, %x : tensor<4xf32>
    %t = tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<8x4xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// The first state says whether there is another step.

func.func @ends(%go: tensor<i1>, %h: tensor<i32>) {
  // CHECK-LABEL: @ends
  // CHECK: %r = tg.scan(%go, %h) states 2 sequences 0 steps 100 while {
  // GENERIC: "tg.scan"(%go, %h) <{states = #tg.number<2>, sequences = #tg.number<0>, steps = #tg.number<100>, while}> ({
  %r = tg.scan(%go, %h) states 2 sequences 0 steps 100 while {
    %f = tg.param 0 : tensor<i1>
    %s = tg.param 1 : tensor<i32>
    %n = tg.add %s, %s : tensor<i32>
    %c = tg.const 1000 : tensor<i32>
    %b = tg.cmplt %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = tg.tuple %b, %n : (tensor<i1>, tensor<i32>) -> !tg.tuple<tensor<i1>, tensor<i32>>
  } : (tensor<i1>, tensor<i32>) -> !tg.tuple<tensor<i1>, tensor<i32>>
  func.return
}

// Without states it is the same function of each element; without arguments, of none.

func.func @maps(%xs: tensor<3x2xf16>) {
  // CHECK-LABEL: @maps
  // CHECK: %r = tg.scan(%xs) states 0 sequences 1 steps 3 {
  // CHECK: } : tensor<3x2xf16> -> !tg.tuple<tensor<3x2xf16>>
  %r = tg.scan(%xs) states 0 sequences 1 steps 3 {
    %x = tg.param 0 : tensor<2xf16>
    %e = tg.exp2 %x : tensor<2xf16>
    %t = tg.tuple %e : tensor<2xf16> -> !tg.tuple<tensor<2xf16>>
  } : tensor<3x2xf16> -> !tg.tuple<tensor<3x2xf16>>
  // CHECK: %k = tg.scan() states 0 sequences 0 steps 5 {
  // CHECK: } : !tg.tuple<tensor<5xi32>>
  %k = tg.scan() states 0 sequences 0 steps 5 {
    %c = tg.const 7 : tensor<i32>
    %t = tg.tuple %c : tensor<i32> -> !tg.tuple<tensor<i32>>
  } : !tg.tuple<tensor<5xi32>>
  func.return
}

// The results are where the arguments are, and a SCAN may be in another one's body.

func.func @places(%h: tensor<4xf32, #tg.place<"CPU">>, %xs: tensor<2x4xf32, #tg.place<"CPU", global>>) {
  // CHECK-LABEL: @places
  // CHECK: -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>, tensor<2x4xf32, #tg.place<"CPU">>>
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %i = tg.scan(%s, %x) states 1 sequences 0 steps 3 {
      %a = tg.param 0 : tensor<4xf32>
      %b = tg.param 1 : tensor<4xf32>
      %m = tg.mul %a, %b : tensor<4xf32>
      %u = tg.tuple %m : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
    } : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
    %n = tg.gettuple %i 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
    %t = tg.tuple %n, %x : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32, #tg.place<"CPU">>, tensor<2x4xf32, #tg.place<"CPU", global>>) -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>, tensor<2x4xf32, #tg.place<"CPU">>>
  func.return
}

// The number of steps is an argument, and extents of a step are PARAMs. What a `while` stacks has rows for
// all steps.

func.func @symbolic(%n: tensor<index>, %b: tensor<index>, %h: tensor<?x4xf32> {tg.dims = array<i64: 1>}, %xs: tensor<?x?x4xf32> {tg.dims = array<i64: 0, 1>}) {
  // CHECK-LABEL: @symbolic
  // CHECK: %r = tg.scan(%h, %xs, %n, %b) states 1 sequences 1 steps_at 2 {
  // CHECK: %s = tg.param 0(%m) : tensor<?x4xf32>
  // CHECK: } : (tensor<?x4xf32>, tensor<?x?x4xf32>, tensor<index>, tensor<index>) -> !tg.tuple<tensor<?x4xf32>, tensor<?x?x4xf32>>
  // GENERIC: "tg.scan"(%h, %xs, %n, %b) <{states = #tg.number<1>, sequences = #tg.number<1>, steps_at = #tg.number<2>}> ({
  %r = tg.scan(%h, %xs, %n, %b) states 1 sequences 1 steps_at 2 {
    %k = tg.param 2 : tensor<index>
    %m = tg.param 3 : tensor<index>
    %s = tg.param 0 (%m) : tensor<?x4xf32>
    %x = tg.param 1 (%m) : tensor<?x4xf32>
    %a = tg.add %s, %x : tensor<?x4xf32>
    %t = tg.tuple %a, %s : (tensor<?x4xf32>, tensor<?x4xf32>) -> !tg.tuple<tensor<?x4xf32>, tensor<?x4xf32>>
  } : (tensor<?x4xf32>, tensor<?x?x4xf32>, tensor<index>, tensor<index>) -> !tg.tuple<tensor<?x4xf32>, tensor<?x?x4xf32>>
  // The shapes of the results are known to be those of the arguments.
  // CHECK: tg.add %{{.*}}, %h : tensor<?x4xf32>
  // CHECK: tg.add %{{.*}}, %xs : tensor<?x?x4xf32>
  %l = tg.gettuple %r 0 : !tg.tuple<tensor<?x4xf32>, tensor<?x?x4xf32>> -> tensor<?x4xf32>
  %y = tg.gettuple %r 1 : !tg.tuple<tensor<?x4xf32>, tensor<?x?x4xf32>> -> tensor<?x?x4xf32>
  %u = tg.add %l, %h : tensor<?x4xf32>
  %v = tg.add %y, %xs : tensor<?x?x4xf32>
  func.return
}

func.func @while_stacks(%go: tensor<i1>) {
  // CHECK-LABEL: @while_stacks
  // CHECK: } : tensor<i1> -> !tg.tuple<tensor<i1>, tensor<3xi1>>
  %r = tg.scan(%go) states 1 sequences 0 steps 3 while {
    %s = tg.param 0 : tensor<i1>
    %t = tg.tuple %s, %s : (tensor<i1>, tensor<i1>) -> !tg.tuple<tensor<i1>, tensor<i1>>
  } : tensor<i1> -> !tg.tuple<tensor<i1>, tensor<3xi1>>
  func.return
}
