/* Helper functions, for operations that no expression of C spells; `builder.py` reads them.

   A source has those that it uses. $T is the type of the operands and the result, $U the unsigned
   type of the same width, $S the type of a source. A comment begins with the kind of the helper. */

// floor_div: Floor division: rounded toward minus infinity; 0 by 0, and -1 wraps.
$T $name($T a, $T b) {
  if (b == 0) return 0;
  if (b == -1) return ($T)(0 - ($U)a);
  return ($T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

// floor_mod: Its modulo, which has the sign of the divisor.
$T $name($T a, $T b) {
  if (b == 0 || b == -1) return 0;
  $T rest = ($T)(a % b);
  return ($T)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

// div: Division of unsigned integers; 0 by 0.
$T $name($T a, $T b) {
  return ($T)(b == 0 ? 0 : a / b);
}

// mod: Its modulo.
$T $name($T a, $T b) {
  return ($T)(b == 0 ? 0 : a % b);
}

// shl: Shifts by any count: a negative one is a great unsigned one.
$T $name($T a, $count count) {
  return count < $bits ? ($T)(($U)a << count) : 0;
}

// shr: The same to the right. What is left of a count past the width is $out.
$T $name($T a, $count count) {
  return ($T)(count < $bits ? a >> count : $out);
}

// max float: The maximum: NaN if either is, and +0 is greater than -0.
$T $name($T a, $T b) {
  if (a != a || a > b) return a;
  if (b != b || b > a) return b;
  return a == 0 ? a + b : a;
}

// max integer: The greater of two integers.
$T $name($T a, $T b) {
  return a > b ? a : b;
}

// convert: Float to integer: truncated, saturated, and 0 for NaN.
$T $name($S x) {
  if (x != x) return 0;
  if (x >= $above) return $high;
  return x <= $low_bound ? $low : ($T)x;
}

// bitcast: The bits of a number of type $S.
$T $name($S x) {
  $T result;
  memcpy(&result, &x, sizeof result);
  return result;
}

// atomic_add: OpenCL C adds integers atomically, but no floats.
void $name(volatile ${space}float *p, float value) {
  volatile ${space}uint *bits = (volatile ${space}uint *)p;
  uint seen = *bits, old;
  do {
    old = seen;
    seen = atomic_cmpxchg(bits, old, as_uint(as_float(old) + value));
  } while (seen != old);
}

// atomic_add_part: A part of a word of 32 bits, which is the narrowest that is exchanged; the
// other parts stay. Bytes are in little-endian order on all devices.
void $name(volatile $space$T *p, $T value) {
  volatile ${space}uint *word = (volatile ${space}uint *)((size_t)p & ~(size_t)3);
  uint shift = 8 * ((size_t)p & 3), mask = ~0u >> (32 - $bits) << shift;
  uint seen = *word, old;
  do {
    old = seen;
    uint sum = (old & mask) + ((uint)($U)value << shift);
    seen = atomic_cmpxchg(word, old, (old & ~mask) | (sum & mask));
  } while (seen != old);
}

// atomic_or_byte: A bool, which is a byte.
void $name(volatile $space$U *p, $T value) {
  volatile ${space}uint *word = (volatile ${space}uint *)((size_t)p & ~(size_t)3);
  atomic_or(word, (uint)value << 8 * ((size_t)p & 3));
}

// atomic_add_part_cuda: `atomic_add_part` in CUDA C++.
void $name($T *p, $T value) {
  unsigned int *word = (unsigned int *)((size_t)p & ~(size_t)3);
  unsigned int shift = 8 * ((size_t)p & 3), mask = ~0u >> (32 - $bits) << shift;
  unsigned int seen = *word, old;
  do {
    old = seen;
    unsigned int sum = (old & mask) + ((unsigned int)($U)value << shift);
    seen = atomicCAS(word, old, (old & ~mask) | (sum & mask));
  } while (seen != old);
}

// atomic_or_byte_cuda: `atomic_or_byte` in CUDA C++.
void $name($U *p, $T value) {
  unsigned int *word = (unsigned int *)((size_t)p & ~(size_t)3);
  atomicOr(word, (unsigned int)value << 8 * ((size_t)p & 3));
}

// atomic_add_words: A sum of 64 bits by words: each overflow of the lower one is one carry.
void $name(volatile $space$T *p, $T value) {
  volatile ${space}atomic_uint *words = (volatile ${space}atomic_uint *)p;
  uint low = (uint)value, high = (uint)(($U)value >> 32);
  uint old = atomic_fetch_add_explicit(words, low, memory_order_relaxed);
  if (old + low < old) high++;
  atomic_fetch_add_explicit(words + 1, high, memory_order_relaxed);
}

// atomic_add_integer: The pragmas of an extension are at the beginning of a compound statement.
void $name(volatile $space$T *p, $T value) {
  #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
  atom_add(p, value);
}

// atomic_add_double: A sum of doubles, by exchanges of 64 bits.
void $name(volatile ${space}double *p, double value) {
  #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
  volatile ${space}ulong *bits = (volatile ${space}ulong *)p;
  ulong seen = *bits, old;
  do {
    old = seen;
    seen = atom_cmpxchg(bits, old, as_ulong(as_double(old) + value));
  } while (seen != old);
}
