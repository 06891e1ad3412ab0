// RUN: tg-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: tg-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: tg-opt --list-passes --allow-external | filecheck %s --check-prefix=EXTERNAL
// RUN: tg-opt --version | filecheck %s --check-prefix=VERSION

// DIALECTS:   Available Dialects: {{.*}}arith,{{.*}}tg
// PASSES:     canonicalize
// PASSES-NOT: mlir-opt
// EXTERNAL:   mlir-opt {{ *}} A pass for calling the `mlir-opt` tool
// VERSION:    tg-opt: tgdialect {{[0-9.]+}}, xdsl 0.
