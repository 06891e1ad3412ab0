// RUN: tg-opt %s | filecheck %s
// RUN: sed 's/workgroup = 128/workgroup = 0/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: sed 's/workgroup = 128/execution = "loops"/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=FIELD
// RUN: sed 's/workgroup = 128/features = ["avx2"]/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=FEATURES
// RUN: sed 's/sm_90/sm_1/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=NAME

// CHECK: tg.target = #tg.target<"nvidia:sm_90", workgroup = 128, local = 1024>
// VALUE: workgroup is 0, not a positive number
// FIELD: error:
// FEATURES: nvidia:sm_90 has no features: its name says which processor it is
// NAME: 'nvidia:sm_1' is not one of the targets: cpu, c, opencl, metal, nvidia:sm_80
module attributes {tg.target = #tg.target<"nvidia:sm_90", workgroup = 128, local = 1024>} {}
