// RUN: tg-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tg-verify{level=function})'

// `{tg.computed}` has the value of an index argument as an expression in those before it.

func.func @main(%n: tensor<index>, %m: tensor<index> {tg.computed = "%0 1 add 2 idiv"}, %k: tensor<index> {tg.computed = "%1 %0 -3 where"},
                %o: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  %z = tg.neg %o : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  %0 = tg.store %o, %z : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
  %s = tg.sink %0 : !tg.void
  func.return
}

// -----

// expected-error@below {{argument 0: tg.computed is '%0 2 idiv', no expression in index arguments before it}}
func.func @itself(%n: tensor<index> {tg.computed = "%0 2 idiv"}) {
  func.return
}

// -----

// expected-error@below {{argument 1: tg.computed is '%0 idiv', no expression in index arguments before it}}
func.func @operands(%n: tensor<index>, %m: tensor<index> {tg.computed = "%0 idiv"}) {
  func.return
}

// -----

// expected-error@below {{argument 1: tg.computed is '%0 2 power', no expression in index arguments before it}}
func.func @operation(%n: tensor<index>, %m: tensor<index> {tg.computed = "%0 2 power"}) {
  func.return
}

// -----

// expected-error@below {{argument 1: tg.computed is '%0', no expression in index arguments before it}}
func.func @memory(%x: tensor<4xf32, #tg.place<"CPU", global>>, %m: tensor<index> {tg.computed = "%0"}) {
  func.return
}

// -----

// expected-error@below {{argument 0: {tg.computed} is for index scalars alone}}
func.func @scalar(%x: tensor<4xf32, #tg.place<"CPU", global>> {tg.computed = "4"}) {
  func.return
}

// -----

// expected-error@below {{argument 0: tg.computed is 4 : i64, of another kind}}
func.func @text(%n: tensor<index> {tg.computed = 4}) {
  func.return
}
