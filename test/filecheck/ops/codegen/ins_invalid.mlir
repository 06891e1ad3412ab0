// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{"rcp" is no "target.mnemonic", as "cpu.popcnt"}}
  %0 = tg.ins "rcp"(%x) : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{".rcp" is no "target.mnemonic", as "cpu.popcnt"}}
  %0 = tg.ins ".rcp"(%x) : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{target cpu has no instruction popcn; did you mean popcnt or vpopcntd? there are: popcnt,}}
  %0 = tg.ins "cpu.popcn"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{target cpu has no instruction frobnicate; there are: popcnt, lzcnt, tzcnt,}}
  %0 = tg.ins "cpu.frobnicate"(%x) : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{the result is a tensor or !tg.void, not i32}}
  %0 = tg.ins "dsp.x"(%x) : tensor<f32> -> i32
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{i7 is not a dtype}}
  %0 = tg.ins "dsp.x"(%x) : tensor<f32> -> tensor<i7>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{target opencl has no instruction popc; it has none}}
  %0 = tg.ins "opencl.popc"(%x) : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{popcnt of cpu is (b32) -> b32 or (b64) -> b64, not (tensor<f32>) -> tensor<f32>}}
  %0 = tg.ins "cpu.popcnt"(%x) : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{vpmaddwd of cpu is (b32, b32) -> b32, not (tensor<i32>) -> tensor<i32>}}
  %0 = tg.ins "cpu.vpmaddwd"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>, %y: tensor<4xi32>) {
  // expected-error@below {{the operands of an instruction have the result's shape: (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>}}
  %0 = tg.ins "cpu.vpmaddwd"(%y, %x) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@below {{the operands of an instruction have the result's shape}}
  %0 = tg.ins "nvidia.nanosleep"(%x) : tensor<4xi32> -> !tg.void
  func.return
}

// -----

func.func @f(%a: tensor<4xf16>, %c: tensor<4xf32>) {
  // expected-error@below {{mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 of nvidia is (8xf16, 4xf16, 4xf32) -> 4xf32, not (tensor<4xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>}}
  %0 = tg.ins "nvidia.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%a, %a, %c) : (tensor<4xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xbf16>, %b: tensor<4xbf16>, %c: tensor<4xf32>) {
  // expected-error@below {{is (8xf16, 4xf16, 4xf32) -> 4xf32, not (tensor<8xbf16>,}}
  %0 = tg.ins "nvidia.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%a, %b, %c) : (tensor<8xbf16>, tensor<4xbf16>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xui32>, %b: tensor<4xui32>, %c: tensor<4xf32>) {
  // expected-error@below {{target nvidia:sm_80 has no instruction mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32; did you mean mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 or}}
  %0 = tg.ins "nvidia:sm_80.mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"(%a, %b, %c) : (tensor<8xui32>, tensor<4xui32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}
