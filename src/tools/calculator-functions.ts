import { Decimal } from 'decimal.js'
import { lazy } from '../core/lazy.ts'
import { CALCULATOR_EXPONENT_MAX } from '../core/limits/machine.ts'
import { ToolFailure } from './tool.ts'

/**
 * Numbers of the calculator: 50 decimal digits, so that money and large integers are exact, and
 * doubles for functions with irrational results. Every operation takes bounded time.
 */
export const Num = Decimal.clone({ precision: 50, modulo: Decimal.ROUND_FLOOR })
export type Num = Decimal

const FACTORIAL_MAX = 1_000
const DOUBLE_DIGITS = 15

/** Throws unless the value is finite and small enough for the next operation to be quick. */
export function inRange(value: Num): Num {
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

/** Exact for integer exponents up to `CALCULATOR_EXPONENT_MAX`, else in double precision. */
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

/** A table, because one expression can need a hundred factorials. */
const factorials = lazy(() => {
  const products = [new Num(1)]
  for (let factor = 1; factor <= FACTORIAL_MAX; factor++) {
    products.push((products.at(-1) ?? new Num(1)).mul(factor))
  }
  return products
})

/** Computes in double precision; rounding to 15 digits hides binary rounding errors. */
function viaDouble(work: (...values: number[]) => number, ...values: Num[]): Num {
  const result = work(...values.map((value) => value.toNumber()))
  if (!Number.isFinite(result)) {
    throw new ToolFailure(
      Number.isNaN(result) ? 'the result is not a real number' : 'the result is too large',
    )
  }
  return new Num(result.toPrecision(DOUBLE_DIGITS))
}

/** As `viaDouble` for periodic functions: results near zero become zero. */
function periodic(work: (value: number) => number, value: Num): Num {
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

type Work = (values: readonly Num[]) => Num

const PI = new Num('3.1415926535897932384626433832795028841971693993751')

export const CONSTANTS: ReadonlyMap<string, Num> = new Map([
  ['pi', PI],
  ['π', PI],
  ['e', new Num('2.7182818284590452353602874713526624977572470937')],
])

/** A map, not an object, so that names such as `constructor` find nothing. */
export const FUNCTIONS: ReadonlyMap<string, Work> = new Map<string, Work>([
  ['sqrt', one((x) => (x.isNegative() ? new Num(Number.NaN) : x.sqrt()))],
  ['cbrt', one((x) => x.cbrt())],
  ['abs', one((x) => x.abs())],
  ['floor', one((x) => x.floor())],
  ['ceil', one((x) => x.ceil())],
  ['round', rounded],
  ['min', (values) => Num.min(...values)],
  ['max', (values) => Num.max(...values)],
  ['pow', two(power)],
  ['sin', one((x) => periodic(Math.sin, x))],
  ['cos', one((x) => periodic(Math.cos, x))],
  ['tan', one((x) => periodic(Math.tan, x))],
  ['asin', one((x) => viaDouble(Math.asin, x))],
  ['acos', one((x) => viaDouble(Math.acos, x))],
  ['atan', one((x) => viaDouble(Math.atan, x))],
  ['atan2', two((y, x) => viaDouble(Math.atan2, y, x))],
  ['exp', one((x) => viaDouble(Math.exp, x))],
  ['ln', one(natural)],
  ['log', (values) => (values.length === 2 ? two(based)(values) : one(natural)(values))],
  ['log10', one((x) => viaDouble(Math.log10, x))],
  ['lg', one((x) => viaDouble(Math.log10, x))],
  ['log2', one((x) => viaDouble(Math.log2, x))],
])

function one(work: (x: Num) => Num): Work {
  return (values) => {
    const [x] = values
    if (x === undefined || values.length !== 1) throw arity(1)
    return inRange(work(x))
  }
}

function two(work: (x: Num, y: Num) => Num): Work {
  return (values) => {
    const [x, y] = values
    if (x === undefined || y === undefined || values.length !== 2) throw arity(2)
    return inRange(work(x, y))
  }
}

function natural(x: Num): Num {
  return viaDouble(Math.log, x)
}

function based(x: Num, base: Num): Num {
  return viaDouble((x, b) => Math.log(x) / Math.log(b), x, base)
}

/** Rounds half away from zero; a second value gives the number of places. */
function rounded(values: readonly Num[]): Num {
  if (values.length === 1) return one((x) => x.round())(values)
  return two((x, digits) => {
    if (!digits.isInteger() || digits.lt(0) || digits.gt(30)) {
      throw new ToolFailure('round takes 0 to 30 places')
    }
    return x.toDecimalPlaces(digits.toNumber())
  })(values)
}

function arity(count: number): ToolFailure {
  return new ToolFailure(`a function here takes ${count} value${count === 1 ? '' : 's'}`)
}
