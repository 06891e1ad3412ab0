// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s --check-prefix=UPGRADED
// RUN: tg-run %s --input 0 --input 7,-2,0,5 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 0 --input 7,-2,0,5 --target cpu | filecheck %s --check-prefix=RESULT
// UPGRADED: %outer = tg.sink %w : tensor<4xi32, #tg.place<"CPU", global>>
// RESULT: dense<[-7, 2, 0, -5]> : tensor<4xi32>

// out = -a. The SINK is the root of the kernel, and of the program that launches it.
func.func @main(%o: tensor<4xi32, #tg.place<"CPU", global>>, %x: tensor<4xi32, #tg.place<"CPU", global>>) -> tensor<4xi32, #tg.place<"CPU">> {
  %k = tg_legacy.kernel "E_4"(%o, %x) {
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<"CPU", global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<"CPU", global>>
    %v = tg_legacy.view [#tg_legacy.view<[4]>] : !tg.void
    %l = tg_legacy.load %a at %v : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void -> tensor<4xi32, #tg.place<"CPU">>
    %n = tg.neg %l : tensor<4xi32, #tg.place<"CPU">>
    %s = tg_legacy.store %out at %v value %n : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void value tensor<4xi32, #tg.place<"CPU">>
    // CHECK: %inner = tg.sink %s : !tg.void
    %inner = tg.sink %s : !tg.void
  } : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU", global>>) -> !tg.void
  %w = tg_legacy.assign %o, %k : (tensor<4xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xi32, #tg.place<"CPU", global>>
  // CHECK: %outer = tg.sink %w : tensor<4xi32, #tg.place<"CPU", global>>
  %outer = tg.sink %w : tensor<4xi32, #tg.place<"CPU", global>>
  %r = tg.load %w : tensor<4xi32, #tg.place<"CPU", global>> -> tensor<4xi32, #tg.place<"CPU">>
  func.return %r : tensor<4xi32, #tg.place<"CPU">>
}
