/* $library: @$entry of $file, compiled by tg-compile for $system.

   Arrays are contiguous, in row-major order, and as aligned as their elements; f16, bf16 and fp8
   are passed as their bits, and i1 as 0 or 1. The caller allocates all arrays. Those that are not
   const are written, and share no memory with any other argument. $calls
   Loops run on as many threads as TG_NUM_THREADS says, or else as there are cores. */

#ifndef $guard
#define $guard

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ${prefix}_CODES
#define ${prefix}_CODES
enum {
  ${prefix}_OK = 0,
  ${prefix}_NO_MEMORY = 1,    /* there is too little memory for intermediate values */
  ${prefix}_BAD_ARGUMENT = 2, /* a null pointer, or an integer out of its bounds */
  ${prefix}_WRONG_CPU = 3     /* the CPU lacks a feature: $features */
};
#endif

/* Returns one of these codes; after an error no array has changed.

$arguments */
int $name($parameters);

#ifdef __cplusplus
}
#endif

#endif
