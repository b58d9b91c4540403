import { z } from 'zod'
import { CALCULATOR_CHARS_MAX, CALCULATOR_DEPTH_MAX } from '../core/limits/machine.ts'
import {
  CONSTANTS,
  divide,
  FUNCTIONS,
  factorial,
  format,
  inRange,
  Num,
  power,
  remainder,
} from './calculator-functions.ts'
import { defineTool, ToolFailure } from './tool.ts'

const args = z.object({
  expression: z.string().trim().min(1).max(CALCULATOR_CHARS_MAX).describe('such as (2+3)*4^2'),
})

/** Exact arithmetic for the model. */
export function createCalculator() {
  return defineTool({
    name: 'calculator',
    description:
      'Evaluates one arithmetic expression. Operators + - * / ^ ! and % (5 % 3 is the remainder, ' +
      '20% is 0.2, 100 + 3% is 103). Functions sqrt cbrt abs floor ceil round min max sin cos ' +
      'tan asin acos atan (radians) exp ln log10 log2 log(x, base). Constants pi, e.',
    args,
    run: ({ expression }) => `${expression} = ${evaluate(expression)}`,
  })
}

/**
 * Evaluates one arithmetic expression. The grammar has no variables, members, strings or lists, and
 * names are looked up in two fixed tables, so an expression can reach nothing else. Throws
 * `ToolFailure`.
 */
function evaluate(expression: string): string {
  if (expression.length > CALCULATOR_CHARS_MAX) throw new ToolFailure('the expression is too long')
  const tokens = createCursor(tokenize(expression))
  const { value } = sum(tokens)
  if (tokens.peek() !== '') throw unexpected(tokens.peek())
  return format(value)
}

/** A value, and whether it is a bare percentage: in `100 + 3%` it means 3 % of 100. */
interface Term {
  readonly value: Num
  readonly percent: boolean
}

const termOf = (value: Num): Term => ({ value: inRange(value), percent: false })

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

/** Reads `1,234,567` as a number, in expressions without function calls. */
function joinThousands(text: string): string {
  return text.replace(/(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])/g, (number) =>
    number.replaceAll(',', ''),
  )
}

interface Cursor {
  peek(ahead?: number): string
  next(): string
  take(token: string): boolean
  expect(token: string): void
  nested<T>(parse: (tokens: Cursor) => T): T
}

/** Reads the tokens from left to right; after the last one comes the empty text. */
function createCursor(tokens: readonly string[]): Cursor {
  let at = 0
  let depth = 0
  return {
    peek: (ahead = 0) => tokens[at + ahead] ?? '',
    next: () => tokens[at++] ?? '',
    take: (token) => tokens[at] === token && ++at > 0,
    expect(token) {
      if (!this.take(token)) throw unexpected(this.peek())
    },
    nested(parse) {
      if (++depth > CALCULATOR_DEPTH_MAX) throw new ToolFailure('the expression nests too deep')
      const result = parse(this)
      depth--
      return result
    },
  }
}

function sum(tokens: Cursor): Term {
  let left = product(tokens)
  for (;;) {
    const sign = tokens.peek()
    if (sign !== '+' && sign !== '-') return left
    tokens.next()
    const right = product(tokens)
    const amount = right.percent && !left.percent ? left.value.mul(right.value) : right.value
    left = termOf(sign === '+' ? left.value.plus(amount) : left.value.minus(amount))
  }
}

function product(tokens: Cursor): Term {
  let left = signed(tokens)
  for (;;) {
    if (tokens.take('*')) left = termOf(left.value.mul(signed(tokens).value))
    else if (tokens.take('/')) left = termOf(divide(left.value, signed(tokens).value))
    else if (tokens.take('%')) left = termOf(remainder(left.value, signed(tokens).value))
    else return left
  }
}

/** A sign binds tighter than a product and looser than `^`: -2^2 is -4. */
function signed(tokens: Cursor): Term {
  if (tokens.take('+')) return tokens.nested(signed)
  if (!tokens.take('-')) return raised(tokens)
  const { value, percent } = tokens.nested(signed)
  return { value: value.neg(), percent }
}

function raised(tokens: Cursor): Term {
  const base = postfix(tokens)
  if (!tokens.take('^')) return base
  return termOf(power(base.value, tokens.nested(signed).value))
}

/** A `%` before an operand is the remainder, which `product` reads. */
function postfix(tokens: Cursor): Term {
  let term = termOf(primary(tokens))
  for (;;) {
    if (tokens.take('!')) term = termOf(factorial(term.value))
    else if (tokens.peek() === '%' && !startsOperand(tokens.peek(1))) {
      tokens.next()
      term = { value: term.value.div(100), percent: true }
    } else return term
  }
}

function primary(tokens: Cursor): Num {
  const token = tokens.next()
  if (/^[\d.]/.test(token)) return new Num(token)
  if (token === '(') {
    const { value } = tokens.nested(sum)
    tokens.expect(')')
    return value
  }
  const constant = CONSTANTS.get(token)
  if (constant) return constant
  const work = FUNCTIONS.get(token)
  if (!work) throw unexpected(token)
  return work(tokens.nested(list))
}

function list(tokens: Cursor): Num[] {
  tokens.expect('(')
  const values = [sum(tokens).value]
  while (tokens.take(',')) values.push(sum(tokens).value)
  tokens.expect(')')
  return values
}

const startsOperand = (token: string) => /^[\w.(]/.test(token)

function unexpected(token: string): ToolFailure {
  const shown = token.slice(0, 20)
  return new ToolFailure(token === '' ? 'the expression is incomplete' : `not allowed: ${shown}`)
}
