// A module says which processor it is for: here one that there is not, of 2 vector registers of 64 bits. Passes ask that,
// not this machine, and what an option says comes before it.

// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=SCHEDULE
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=avx512f}' | filecheck %s --check-prefix=OPTION
// RUN: sed 's/features = [[]], vector_bits = 64, vector_registers = 2/features = ["avx512f"]/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=WIDE
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic threads=3},tg-expand,tg-select,tg-linearize,tg-plan,tg-render{cache=1024}' | filecheck %s --check-prefix=WRITTEN
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{features=avx512f}' | filecheck %s --check-prefix=FEATURES
// RUN: sed 's/#tg.target<.*>}/#tg.target<"cpu", features = [], threads = 1>}/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize' | filecheck %s --check-prefix=KEPT
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic}' | filecheck %s --check-prefix=LLVM
// RUN: tg-run %s --target=cpu --input 32x24xf32=random --input 24x16xf32=0.5 | filecheck %s --check-prefix=VALUES
// RUN: tg-run %s --target=interpreter --input 32x24xf32=random --input 24x16xf32=0.5 | filecheck %s --check-prefix=VALUES

// SCHEDULE: opts [#tg.opt<split 1, 2, upcast>]
// OPTION: opts [#tg.opt<split 0, 16, upcast>, #tg.opt<split 1, 16, upcast>]
// WIDE: opts [#tg.opt<split 0, 16, upcast>, #tg.opt<split 1, 16, upcast>]
// WRITTEN: module attributes {tg.target = {name = "cpu", features = [], vector_bits = 64 : i64, vector_registers = 2 : i64, l1 = 4096 : i64, llc = 1024 : i64, threads = 3 : i64}}
// WRITTEN-NOT: vector<16xf32>
// FEATURES: module attributes {tg.target = #tg.target<"cpu", features = ["avx512f"], l1 = 4096>}
// KEPT: module attributes {tg.target = #tg.target<"cpu", features = [], threads = 1>}
// LLVM: module attributes {tg.target = {name = "cpu", features = [], vector_bits = 64 : i64, vector_registers = 2 : i64, l1 = 4096 : i64}}
// LLVM-NOT: vector<16xf32>
// LLVM: llvm.load {{.*}} -> vector<2xf32>
// LLVM-NOT: vector<16xf32>
// VALUES: dense<{{\[\[}}0.0625, 0.0625, 0.0625, {{.*}}, 0.0625]]> : tensor<32x16xf32>

module attributes {tg.target = #tg.target<"cpu", features = [], vector_bits = 64, vector_registers = 2, l1 = 4096>} {
  func.func @main(%a: tensor<32x24xf32>, %b: tensor<24x16xf32>) -> tensor<32x16xf32> {
    %columns = tg.reshape %a [32, 24, 1] : tensor<32x24xf32> -> tensor<32x24x1xf32>
    %rows = tg.reshape %b [1, 24, 16] : tensor<24x16xf32> -> tensor<1x24x16xf32>
    %products = tg.mul %columns, %rows : (tensor<32x24x1xf32>, tensor<1x24x16xf32>) -> tensor<32x24x16xf32>
    %dots = tg.reduce add %products [1] : tensor<32x24x16xf32> -> tensor<32x1x16xf32>
    %scores = tg.reshape %dots [32, 16] : tensor<32x1x16xf32> -> tensor<32x16xf32>

    %log2_e = tg.const 1.44269504 : tensor<f32>
    %max = tg.reduce max %scores [1] : tensor<32x16xf32> -> tensor<32x1xf32>
    %shifted = tg.sub %scores, %max : (tensor<32x16xf32>, tensor<32x1xf32>) -> tensor<32x16xf32>
    %exponents = tg.mul %shifted, %log2_e : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
    %e = tg.exp2 %exponents : tensor<32x16xf32>
    %sum = tg.reduce add %e [1] : tensor<32x16xf32> -> tensor<32x1xf32>
    %result = tg.div %e, %sum : (tensor<32x16xf32>, tensor<32x1xf32>) -> tensor<32x16xf32>
    return %result : tensor<32x16xf32>
  }
}
