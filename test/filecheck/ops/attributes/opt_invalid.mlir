// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{Expected `tc`, `split`, `padto`, `swap`, `nolocals`, `stage`, `pipeline`, `order`, or `merge`}}
  %0 = tg.sink opts [#tg.opt<fuse 0, 1>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{split takes an axis, a factor, an axis type (global, local, warp, thread, loop, reduce, group_reduce, upcast, unroll) and perhaps top or overlap, got (0, 4)}}
  %0 = tg.sink opts [#tg.opt<split 0, 4>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{split takes an axis, a factor, an axis type (global, local, warp, thread, loop, reduce, group_reduce, upcast, unroll) and perhaps top or overlap, got (0, 4, fast)}}
  %0 = tg.sink opts [#tg.opt<split 0, 4, fast>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{split takes an axis, a factor, an axis type (global, local, warp, thread, loop, reduce, group_reduce, upcast, unroll) and perhaps top or overlap, got (0, 0, upcast)}}
  %0 = tg.sink opts [#tg.opt<split 0, 0, upcast>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{split takes an axis, a factor, an axis type (global, local, warp, thread, loop, reduce, group_reduce, upcast, unroll) and perhaps top or overlap, got (0, 4, upcast, bottom)}}
  %0 = tg.sink opts [#tg.opt<split 0, 4, upcast, bottom>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{padto takes an axis, a multiple and perhaps clamp, got (0)}}
  %0 = tg.sink opts [#tg.opt<padto 0>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{swap takes two axes, got (0, 1, 2)}}
  %0 = tg.sink opts [#tg.opt<swap 0, 1, 2>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{nolocals takes no arguments, got (1)}}
  %0 = tg.sink opts [#tg.opt<nolocals 1>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{stage takes a parameter, the axis of the loop to copy in, an address space and perhaps pad, cores or swizzle, got ()}}
  %0 = tg.sink opts [#tg.opt<stage>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{order takes axes, got (a)}}
  %0 = tg.sink opts [#tg.opt<order a>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{merge takes two axes, got (0)}}
  %0 = tg.sink opts [#tg.opt<merge 0>]
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{integer or keyword expected}}
  %0 = tg.sink opts [#tg.opt<swap 0, >]
  func.return
}
