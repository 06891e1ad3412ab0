// RUN: tg-opt %S/online.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=opencl}' -o %t.stage0
// RUN: tg-opt %S/online.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=opencl},tg-relax-maxima{target=opencl},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=opencl},tg-plan-fusion{target=opencl}' | tg-opt --split-input-file -p 'tg-build-kernels{target=opencl}' -o %t.passes0
// RUN: tg-opt %S/online.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage1
// RUN: tg-opt %S/online.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes1
// RUN: tg-opt %S/padded_in_place.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage2
// RUN: tg-opt %S/padded_in_place.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes2
// RUN: tg-opt %S/kernels/axis_orders.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage3
// RUN: tg-opt %S/kernels/axis_orders.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes3
// RUN: tg-opt %S/kernels/layernorm.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage4
// RUN: tg-opt %S/kernels/layernorm.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes4
// RUN: tg-opt %S/kernels/attention.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage5
// RUN: tg-opt %S/kernels/attention.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes5
// RUN: tg-opt %S/residues.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage6
// RUN: tg-opt %S/residues.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes6
// RUN: tg-opt %S/donated.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage7
// RUN: tg-opt %S/donated.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes7
// RUN: tg-opt %S/scan.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage8
// RUN: tg-opt %S/scan.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes8
// RUN: tg-opt %S/order.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=cpu}' -o %t.stage9
// RUN: tg-opt %S/order.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=cpu},tg-relax-maxima{target=cpu},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=cpu},tg-plan-fusion{target=cpu}' | tg-opt --split-input-file -p 'tg-build-kernels{target=cpu}' -o %t.passes9
// RUN: tg-opt %S/demotion.mlir --split-input-file -p 'tg-callify,tg-rangeify{target=metal}' -o %t.stage10
// RUN: tg-opt %S/demotion.mlir --split-input-file -p 'tg-callify,tg-demote-f64{target=metal},tg-relax-maxima{target=metal},tg-copy-non-contiguous,tg-split-residues,tg-store-before-movement,tg-split-reductions{target=metal},tg-plan-fusion{target=metal}' | tg-opt --split-input-file -p 'tg-build-kernels{target=metal}' -o %t.passes10
// RUN: diff %t.stage0 %t.passes0
// RUN: diff %t.stage1 %t.passes1
// RUN: diff %t.stage2 %t.passes2
// RUN: diff %t.stage3 %t.passes3
// RUN: diff %t.stage4 %t.passes4
// RUN: diff %t.stage5 %t.passes5
// RUN: diff %t.stage6 %t.passes6
// RUN: diff %t.stage7 %t.passes7
// RUN: diff %t.stage8 %t.passes8
// RUN: diff %t.stage9 %t.passes9
// RUN: diff %t.stage10 %t.passes10

// tg-rangeify is a sequence of passes. The plan of a function survives printing and parsing.
