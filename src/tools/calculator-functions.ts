import { checked, Num, periodic, power, viaDouble } from './calculator-numbers.ts'
import { ToolFailure } from './tool.ts'

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
    return checked(work(x))
  }
}

function two(work: (x: Num, y: Num) => Num): Work {
  return (values) => {
    const [x, y] = values
    if (x === undefined || y === undefined || values.length !== 2) throw arity(2)
    return checked(work(x, y))
  }
}

function natural(x: Num): Num {
  return viaDouble(Math.log, x)
}

function based(x: Num, base: Num): Num {
  return viaDouble((x, b) => Math.log(x) / Math.log(b), x, base)
}

/** Half away from zero, to `digits` places when a second value says so. */
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
