import { CALCULATOR_CHARS_MAX, CALCULATOR_DEPTH_MAX } from '../../../core/limits.ts'
import { CONSTANTS, FUNCTIONS } from './calculator-functions.ts'
import { checked, divide, factorial, format, Num, power, remainder } from './calculator-numbers.ts'
import { ToolFailure } from './tool.ts'

/**
 * Evaluates one arithmetic expression. There are no variables, assignments, members, strings or
 * lists, and names are looked up in two fixed tables, so there is nothing an expression could
 * reach. Throws `ToolFailure`.
 */
export function evaluate(expression: string): string {
  if (expression.length > CALCULATOR_CHARS_MAX) throw new ToolFailure('the expression is too long')
  const parser = createParser(tokenize(expression))
  return format(parser.parseAll())
}

/** A value, and whether it was written as a bare percentage, which `100 + 3%` takes of 100. */
interface Term {
  readonly value: Num
  readonly percent: boolean
}

const plain = (value: Num): Term => ({ value: checked(value), percent: false })

const TOKEN = /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d{1,4})?|\.\d+(?:e[+-]?\d{1,4})?)|([a-z]\w*)|(\S))/giy

function tokenize(expression: string): string[] {
  const text = expression
    .normalize('NFKC')
    .replace(/[×·∙⋅]/g, '*')
    .replace(/÷/g, '/')
    .replace(/[−–]/g, '-')
    .replace(/√/g, 'sqrt')
    .replace(/\*\*/g, '^')
    .replace(/=\s*$/, '')
  const grouped = /[a-z]\w*\s*\(/i.test(text) ? text : joinThousands(text)
  return [...grouped.trim().matchAll(TOKEN)].map(([, number, name, sign]) => {
    return number ?? name?.toLowerCase() ?? sign ?? ''
  })
}

/** `1,234,567` is a number where no function's commas could be meant. */
function joinThousands(text: string): string {
  return text.replace(/(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])/g, (number) =>
    number.replaceAll(',', ''),
  )
}

function createParser(tokens: readonly string[]) {
  let at = 0
  let depth = 0
  const peek = () => tokens[at] ?? ''
  const take = (token: string) => peek() === token && ++at > 0
  const expect = (token: string) => {
    if (!take(token)) throw unexpected(peek())
  }

  function nested<T>(parse: () => T): T {
    if (++depth > CALCULATOR_DEPTH_MAX) throw new ToolFailure('the expression nests too deep')
    const result = parse()
    depth--
    return result
  }

  function sum(): Term {
    let left = product()
    for (;;) {
      const sign = peek()
      if (sign !== '+' && sign !== '-') return left
      at++
      const right = product()
      const amount = right.percent && !left.percent ? left.value.mul(right.value) : right.value
      left = plain(sign === '+' ? left.value.plus(amount) : left.value.minus(amount))
    }
  }

  function product(): Term {
    let left = signed()
    for (;;) {
      if (take('*')) left = plain(left.value.mul(signed().value))
      else if (take('/')) left = plain(divide(left.value, signed().value))
      else if (take('%')) left = plain(remainder(left.value, signed().value))
      else return left
    }
  }

  /** The sign binds looser than `^`, so -2^2 is -4, and tighter than a product. */
  function signed(): Term {
    if (take('+')) return nested(signed)
    if (!take('-')) return raised()
    const { value, percent } = nested(signed)
    return { value: value.neg(), percent }
  }

  function raised(): Term {
    const base = postfix()
    if (!take('^')) return base
    return plain(power(base.value, nested(signed).value))
  }

  function postfix(): Term {
    let term = plain(primary())
    for (;;) {
      if (take('!')) term = plain(factorial(term.value))
      else if (peek() === '%' && !startsOperand(tokens[at + 1])) {
        at++
        term = { value: term.value.div(100), percent: true }
      } else return term
    }
  }

  function primary(): Num {
    const token = peek()
    at++
    if (/^[\d.]/.test(token)) return new Num(token)
    if (token === '(') {
      const { value } = nested(sum)
      expect(')')
      return value
    }
    const constant = CONSTANTS.get(token)
    if (constant) return constant
    const work = FUNCTIONS.get(token)
    if (!work) throw unexpected(token)
    return work(nested(list))
  }

  function list(): Num[] {
    expect('(')
    const values = [sum().value]
    while (take(',')) values.push(sum().value)
    expect(')')
    return values
  }

  return {
    parseAll(): Num {
      const { value } = sum()
      if (at < tokens.length) throw unexpected(peek())
      return value
    },
  }
}

function startsOperand(token: string | undefined): boolean {
  return token !== undefined && /^[\w.(]/.test(token)
}

function unexpected(token: string): ToolFailure {
  const shown = token.slice(0, 20)
  return new ToolFailure(token === '' ? 'the expression is incomplete' : `not allowed: ${shown}`)
}
