import { Decimal } from 'decimal.js'
import { lazy } from '../core/lazy.ts'
import { CALCULATOR_EXPONENT_MAX } from '../core/limits/machine.ts'
import { ToolFailure } from './tool.ts'

/**
 * Numbers of the calculator: 50 decimal digits for arithmetic, so that money and large integers
 * come out exact, and doubles for what is irrational anyway. Every operation takes bounded time.
 */
export const Num = Decimal.clone({ precision: 50, modulo: Decimal.ROUND_FLOOR })
export type Num = Decimal

const FACTORIAL_MAX = 1_000
const DOUBLE_DIGITS = 15

/** Refuses what is not a finite number of a size that the next operation can handle quickly. */
export function checked(value: Num): Num {
  if (value.isNaN()) throw new ToolFailure('the result is not a real number')
  if (!value.isFinite()) throw new ToolFailure('the result is too large')
  if (!value.isZero() && value.e > CALCULATOR_EXPONENT_MAX) {
    throw new ToolFailure('the result is too large')
  }
  if (!value.isZero() && value.e < -CALCULATOR_EXPONENT_MAX) return new Num(0)
  return value
}

export function divide(a: Num, b: Num): Num {
  if (b.isZero()) throw new ToolFailure('division by zero')
  return a.div(b)
}

export function remainder(a: Num, b: Num): Num {
  if (b.isZero()) throw new ToolFailure('division by zero')
  return a.mod(b)
}

/** Exact for integer exponents of a size that ends quickly, else in double precision. */
export function power(base: Num, exponent: Num): Num {
  if (base.isZero() && exponent.isNegative()) throw new ToolFailure('division by zero')
  if (exponent.isInteger() && exponent.abs().lte(CALCULATOR_EXPONENT_MAX)) {
    return base.pow(exponent)
  }
  return viaDouble((b, e) => b ** e, base, exponent)
}

export function factorial(value: Num): Num {
  if (!value.isInteger() || value.isNegative()) {
    throw new ToolFailure('the factorial needs a whole number from 0')
  }
  if (value.gt(FACTORIAL_MAX)) throw new ToolFailure('the result is too large')
  return factorials()[value.toNumber()] ?? new Num(1)
}

/** All of them once: an expression can ask for a hundred, and a model for many such expressions. */
const factorials = lazy(() => {
  const products = [new Num(1)]
  for (let factor = 1; factor <= FACTORIAL_MAX; factor++) {
    products.push((products.at(-1) ?? new Num(1)).mul(factor))
  }
  return products
})

/** `work` in double precision. Rounding to 15 digits hides the binary remainders of the last. */
export function viaDouble(work: (...values: number[]) => number, ...values: Num[]): Num {
  const result = work(...values.map((value) => value.toNumber()))
  if (!Number.isFinite(result)) {
    throw new ToolFailure(
      Number.isNaN(result) ? 'the result is not a real number' : 'the result is too large',
    )
  }
  return new Num(result.toPrecision(DOUBLE_DIGITS))
}

/** As `viaDouble` for periodic functions, which miss their zeros by about the last digit. */
export function periodic(work: (value: number) => number, value: Num): Num {
  if (value.abs().gt(1e9)) throw new ToolFailure('the angle is too large')
  const result = viaDouble(work, value)
  return result.abs().lt(value.abs().plus(1).mul(1e-15)) ? new Num(0) : result
}

/** Whole numbers in full up to 50 digits, else 20 significant digits. */
export function format(value: Num): string {
  if (value.isZero()) return '0'
  if (value.isInteger() && value.e < 50) return value.toFixed()
  const rounded = value.toSignificantDigits(20)
  return rounded.e >= -6 && rounded.e < 21 ? rounded.toFixed() : rounded.toString()
}
