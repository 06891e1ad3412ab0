func.func @main(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.muli %0, %b : i32
  %2 = arith.subi %1, %a : i32
  %3 = arith.addi %2, %0 : i32
  %4 = arith.muli %3, %1 : i32
  %5 = arith.addi %4, %2 : i32
  %6 = arith.subi %5, %3 : i32
  %7 = arith.addi %6, %4 : i32
  func.return %7 : i32
}
