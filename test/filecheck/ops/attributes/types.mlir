// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// CHECK: func.func private @f(!tg.void, !tg.tuple<tensor<4xf32>, tensor<i32, #tg.place<"CPU", global>>>, !tg.tuple<>) -> ()
func.func private @f(!tg.void, !tg.tuple<tensor<4xf32>, tensor<i32, #tg.place<"CPU", global>>>, !tg.tuple<>) -> ()
