// The name of a processor stands for its features, its caches and its rates: schedules differ where its cores do.
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=znver4 threads=1}' | filecheck %s --check-prefix=HALF
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=sapphirerapids threads=1}' | filecheck %s --check-prefix=WHOLE
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=neoverse-v2 threads=1}' | filecheck %s --check-prefix=ARM
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=znver3 threads=1}' | filecheck %s --check-prefix=LAPTOP

// Vectors of 64 bytes: ports of half of that hide the latency of a sum with half as many accumulators.
// HALF-LABEL:  tg.kernel @main_0
// HALF:          opts [#tg.opt<split 1, 64, group_reduce>]
// WHOLE-LABEL: tg.kernel @main_0
// WHOLE:         opts [#tg.opt<split 1, 128, group_reduce>]

// Where arithmetic has no operands in memory, each row of a tile takes another register.
// ARM-LABEL:    tg.kernel @main_1
// ARM:            opts [#tg.opt<split 0, 5, upcast, overlap>, #tg.opt<split 1, 16, upcast>
// LAPTOP-LABEL: tg.kernel @main_1
// LAPTOP:         opts [#tg.opt<split 0, 6, upcast, overlap>, #tg.opt<split 1, 16, upcast>

// A target that nobody makes: vectors of 64 bits, of which there are few, and an L1 of 4 KiB.
// RUN: sed 's/^func.func/module attributes {tg.target = #tg.target<"cpu", features = [], vector_bits = 64, vector_registers = 8, l1 = 4096>} { func.func/; s/^}/} }/' %s > %t.mlir
// RUN: tg-opt %t.mlir -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic threads=1}' | filecheck %s --check-prefix=SMALL
// SMALL-LABEL: tg.kernel @main_1
// SMALL:         opts [#tg.opt<split 0, 6, upcast, overlap>, #tg.opt<split 1, 2, upcast>

// The file that `python -m tgdialect.calibrate` writes: of a core with four ports, where an addition takes nine cycles.
// RUN: env TG_TARGET_FILE= tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=avx2,fma threads=1}' | filecheck %s --check-prefix=USUAL
// RUN: env TG_TARGET_FILE=%S/Inputs/four_ports.json tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=avx2,fma threads=1}' | filecheck %s --check-prefix=MEASURED
// RUN: not env TG_TARGET_FILE=%s tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=avx2}' 2>&1 | filecheck %s --check-prefix=FILE
// USUAL-LABEL:    tg.kernel @main_1
// USUAL:            opts [#tg.opt<split 0, 6, upcast, overlap>, #tg.opt<split 1, 16, upcast>
// MEASURED-LABEL: tg.kernel @main_1
// MEASURED:         opts [#tg.opt<split 0, 13, upcast, overlap>, #tg.opt<split 1, 8, upcast>
// FILE: error: TG_TARGET_FILE: {{.*}}processors.mlir: it is no JSON

func.func @main(%x: tensor<16x128xf32>, %a: tensor<128x512xf32>, %b: tensor<512x256xf32>) -> (tensor<16x1xf32>, tensor<128x1x256xf32>) {
  %s = tg.reduce add %x [1] : tensor<16x128xf32> -> tensor<16x1xf32>
  %y = tg.reshape %a [128, 512, 1] : tensor<128x512xf32> -> tensor<128x512x1xf32>
  %z = tg.reshape %b [1, 512, 256] : tensor<512x256xf32> -> tensor<1x512x256xf32>
  %m = tg.mul %y, %z : (tensor<128x512x1xf32>, tensor<1x512x256xf32>) -> tensor<128x512x256xf32>
  %c = tg.reduce add %m [1] : tensor<128x512x256xf32> -> tensor<128x1x256xf32>
  return %s, %c : tensor<16x1xf32>, tensor<128x1x256xf32>
}
