/* Calls the perceptron of mlp.mlir, which tg-compile has compiled:

     tg-compile ../mlp.mlir -o mlp.so
     cc -Wall -Wextra -Werror main.c ./mlp.so -o main
     ./main                                                                                       */

#include "mlp.h"
#include <stdio.h>

int main(void) {
  const float x[2][3] = {{1, 2, 3}, {-1, 0, 1}};
  const float w1[3][2] = {{1, 0}, {0, 1}, {1, -1}}, b1[2] = {0.5f, -0.5f};
  const float w2[2][2] = {{2, 1}, {0, 3}}, b2[2] = {0, 1};
  float result[2][2];

  int code = mlp_main(*x, *w1, b1, *w2, b2, *result);
  if (code != TG_MLP_OK) {
    fprintf(stderr, "mlp_main: error %d, see mlp.h\n", code);
    return 1;
  }
  for (int row = 0; row < 2; ++row) printf("%g %g\n", result[row][0], result[row][1]);
  return 0;
}
