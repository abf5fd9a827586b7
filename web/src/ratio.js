/** Exact arithmetic with doubles, each of which is an integer divided by a power of 2. */

/**
 * @param {number} value A finite double.
 * @returns {[bigint, bigint]} Its numerator and its denominator, a power of 2.
 */
export function toRatio(value) {
  let power = 1n;
  // Doubling a double is exact, and 1,100 times suffice for the smallest one.
  for (; !Number.isInteger(value); power *= 2n) value *= 2;
  return [BigInt(value), power];
}

/**
 * @param {readonly number[]} values Finite doubles.
 * @returns {bigint[]} The numerators of all values over a common denominator.
 */
export function toNumerators(values) {
  const ratios = values.map(toRatio);
  const finest = ratios.reduce((large, [, power]) => (power > large ? power : large), 1n);
  return ratios.map(([number, power]) => number * (finest / power));
}
