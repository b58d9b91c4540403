import { describe, expect, test } from 'bun:test'
import { createCalculator } from './calculator.ts'
import { ToolFailure } from './tool.ts'

const calculator = createCalculator()
const context = { signal: new AbortController().signal, tenantId: 't' }
const run = (expression: unknown) => calculator.run({ expression }, context)

describe('calculator', () => {
  const right: [expression: string, result: string][] = [
    ['1+1', '2'],
    ['cos(0)', '1'],
    ['2^10', '1024'],
    ['2**10', '1024'],
    ['2^3^2', '512'],
    ['-2^2', '-4'],
    ['2^-2', '0.25'],
    ['--2', '2'],
    ['2-3*4', '-10'],
    ['(2-3)*4', '-4'],
    ['10/4', '2.5'],
    ['0.1+0.2', '0.3'],
    ['1/3', '0.33333333333333333333'],
    ['2^64', '18446744073709551616'],
    ['123456789*987654321', '121932631112635269'],
    ['30!', '265252859812191058636308480000000'],
    ['3!!', '720'],
    ['20%', '0.2'],
    ['200*15%', '30'],
    ['8%+2%', '0.1'],
    ['100+3%', '103'],
    ['200-10%', '180'],
    ['100*(1+5%)^3', '115.7625'],
    ['10%3', '1'],
    ['10 % (1+2)', '1'],
    ['50%*2', '1'],
    ['5%', '0.05'],
    ['sqrt(16)+cbrt(27)', '7'],
    ['sqrt(2)^2', '2'],
    ['sin(pi)', '0'],
    ['cos(pi/2)', '0'],
    ['sin(pi/6)', '0.5'],
    ['tan(pi/4)', '1'],
    ['ln(e)', '1'],
    ['log10(1000)', '3'],
    ['log(8, 2)', '3'],
    ['exp(0)', '1'],
    ['round(2.5)', '3'],
    ['round(3.14159, 2)', '3.14'],
    ['max(1, 2, 3) - min(4, 5)', '-1'],
    ['1,234,567 + 1', '1234568'],
    ['1e3 + 1.5E-1', '1000.15'],
    ['.5*2', '1'],
    ['３＋４×（２－１）', '7'],
    ['6÷4 =', '1.5'],
    ['√(9)', '3'],
    ['PI', '3.1415926535897932385'],
    ['1e-7', '1e-7'],
    ['2^0.5', '1.4142135623731'],
  ]
  test.each(right)('the calculator evaluates %p to %p', async (expression, result) => {
    expect(await run(expression)).toBe(`${expression} = ${result}`)
  })

  const refused = [
    ...[
      '',
      ' ',
      '+',
      '1+',
      '(1',
      '1)',
      '()',
      '1 2',
      '2(3)',
      'sqrt',
      'sqrt()',
      'sqrt(1,2)',
      'max()',
    ],
    ...['1/0', '1%0', '0^-1', 'sqrt(-1)', 'ln(0)', 'ln(-1)', 'asin(2)', 'log(2,1)', '(-8)^(1/3)'],
    ...['import("fs")', 'import(fs)', 'require("fs")', 'process.exit()', 'eval("1")', '`1`', '"a"'],
    ...[
      'constructor',
      'constructor.constructor("return 1")()',
      '__proto__',
      'toString()',
      'valueOf',
    ],
    ...['(1).constructor', 'sqrt.constructor', 'sqrt["call"]', 'this', 'globalThis', 'Math.PI'],
    ...['x=1;x', 'x=1', 'f(x)=x', '1;2', '1\n2', '1==1', '1<2', 'a', '{}', '{"a":1}', '#{1}'],
    ...['[1,2]', '1:1e9', '[1:1e9]', 'ones(1e9)', 'zeros(9999,9999)', 'sum(1:1e9)', 'range(0,1e9)'],
    ...['9^9^9^9', '9^9^9', '9^387420489 % 7', '(9^999)^999', '10^5001', '2^1e300', '1e9999'],
    ...['factorial(1e9)', '(1e9)!', '1001!', '5.5!', '(-1)!', '3!!!!', '1000!!', 'exp(1e9)'],
    ...['sin(1e300)', 'round(1, 1e9)', '1e99999', '1e999999999', '1\u00001', '1+😀'],
    ...[
      '('.repeat(200),
      `${'('.repeat(200)}1${')'.repeat(200)}`,
      '-'.repeat(400),
      '2^'.repeat(200),
    ],
    ...['('.repeat(10_000), `${'('.repeat(10_000)}1${')'.repeat(10_000)}`, '1+'.repeat(5_000)],
    ...['sqrt('.repeat(90), '1'.repeat(501), `${'9^'.repeat(60)}9`],
  ]
  test.each(refused)('the calculator refuses %p', async (expression) => {
    expect(await run(expression).catch((error) => error)).toBeInstanceOf(ToolFailure)
  })

  test.each([undefined, null, 1, {}, [[]]])(
    'the calculator refuses the argument %p',
    async (expression) => {
      const failure = await run(expression).catch((error) => error)
      expect(failure).toBeInstanceOf(ToolFailure)
      expect(failure.message).toStartWith('invalid arguments: expression')
    },
  )

  test('the heaviest expressions that the calculator allows end', async () => {
    const heavy = ['(10^5000 % 7)+', '1000!/1000!+', 'sqrt(10^4999)+', '1.0000001^5000+', '7^.3+']
    for (const term of heavy) {
      const expression = `${term.repeat(Math.floor(499 / term.length))}1`
      expect(await run(expression)).toStartWith(expression)
    }
  })

  test('the calculator describes its arguments as JSON schema', () => {
    expect(calculator.spec).toMatchObject({
      name: 'calculator',
      parameters: { type: 'object', required: ['expression'] },
    })
  })
})
