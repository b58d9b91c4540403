import { z } from 'zod'
import { CALCULATOR_CHARS_MAX } from '../core/limits/machine.ts'
import { defineTool } from './tool.ts'

const args = z.object({
  expression: z.string().trim().min(1).max(CALCULATOR_CHARS_MAX).describe('such as (2+3)*4^2'),
})

/** Exact arithmetic for the model. The engine is loaded on first use. */
export function createCalculator() {
  return defineTool({
    name: 'calculator',
    description:
      'Evaluates one arithmetic expression. Operators + - * / ^ ! and % (5 % 3 is the remainder, ' +
      '20% is 0.2, 100 + 3% is 103). Functions sqrt cbrt abs floor ceil round min max sin cos ' +
      'tan asin acos atan (radians) exp ln log10 log2 log(x, base). Constants pi, e.',
    args,
    async run({ expression }) {
      const { evaluate } = await import('./calculator-parser.ts')
      return `${expression} = ${evaluate(expression)}`
    },
  })
}
