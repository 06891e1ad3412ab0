// A picture that a decoder expands from its run lengths, then scaled to 0 ... 1: the decoder is a
// CUSTOMFUNCTION, which `decode.py` has for this host. On a device it would be fixed hardware.
//
// Three pixels of 255, then five of 51.
// RUN: tg-run %s --target=interpreter --allow-custom --custom %S/decode.py:expand_runs --input 3,255,5,51 | filecheck %s
// RUN: tg-run %s --target=cpu --allow-custom --custom %S/decode.py:expand_runs --input 3,255,5,51 | filecheck %s
// RUN: tg-run %s --target=c --allow-custom --custom %S/decode.py:expand_runs --input 3,255,5,51 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<{{\[\[}}1.0, 1.0, 1.0, 0.2], [0.2, 0.2, 0.2, 0.2]]> : tensor<2x4xf32>
//
// A translation unit in C calls it by its name.
// RUN: tg-opt %s -p 'tg-to-source{target=c}' -t c | filecheck %s --check-prefix=C
// C: extern void expand_runs(const void *, void *);

#memory = #tg.place<"CPU", global>
tg.customfunction @expand_runs() reads [0] writes [1]

func.func @main(%runs: tensor<4xui8, #memory>) -> tensor<2x4xf32, #tg.place<"CPU">> {
  %picture = tg.buffer 0 : tensor<2x4xui8, #memory>
  %done = tg.call @expand_runs(%runs, %picture) : (tensor<4xui8, #memory>, tensor<2x4xui8, #memory>) -> !tg.void
  %decoded = tg.after %picture, %done : (tensor<2x4xui8, #memory>, !tg.void) -> tensor<2x4xui8, #memory>
  %pixels = tg.load %decoded : tensor<2x4xui8, #memory> -> tensor<2x4xui8, #tg.place<"CPU">>
  %floats = tg.cast %pixels to f32 : tensor<2x4xui8, #tg.place<"CPU">> -> tensor<2x4xf32, #tg.place<"CPU">>
  %most = tg.const 255.0 : tensor<f32>
  %scaled = tg.div %floats, %most : (tensor<2x4xf32, #tg.place<"CPU">>, tensor<f32>) -> tensor<2x4xf32, #tg.place<"CPU">>
  func.return %scaled : tensor<2x4xf32, #tg.place<"CPU">>
}
