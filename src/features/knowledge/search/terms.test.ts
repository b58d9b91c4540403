import { describe, expect, test } from 'bun:test'
import { stem } from '../../../core/stem.ts'
import { queryTerms, termsOf } from './terms.ts'

/** Whether a question's term is one of the text's, as the index decides it. */
function meets(question: string, text: string): number {
  const terms = termsOf(text)
  return queryTerms(question).filter((term) =>
    term.endsWith('*')
      ? terms.some((one) => one.startsWith(term.slice(0, -1)))
      : terms.includes(term),
  ).length
}

test('terms of Chinese are pairs of characters', () => {
  expect(termsOf('知识库')).toEqual(['知识', '识库', '库'])
  expect(queryTerms('知识库')).toEqual(['知识', '识库'])
})

test('a single Chinese character is found at any place', () => {
  for (const text of ['猫', '小猫', '猫粮', '一只猫。']) expect(meets('猫', text)).toBe(1)
  expect(meets('猫', '小狗')).toBe(0)
})

describe('exact terms', () => {
  test('the term 第36条 is not 第367条', () => {
    const question = queryTerms('第36条')
    expect(question).toEqual(expect.arrayContaining(['36', '第36', '36条']))
    expect(meets('第36条', '按照第36条办理')).toBe(question.length)
    expect(meets('第36条', '按照第367条办理')).toBe(0)
  })

  test('part numbers are one term, and are found by their parts', () => {
    expect(termsOf('型号AB-1234的价格')).toContain('ab-1234')
    expect(meets('AB-1234', '型号AB-1234的价格')).toBe(queryTerms('AB-1234').length)
    expect(meets('AB-1234', '型号AB-1235的价格')).toBeLessThan(queryTerms('AB-1234').length)
    expect(meets('1234', 'AB-1234')).toBe(1)
  })

  test('versions, addresses and names with signs stay whole', () => {
    expect(termsOf('v1.4.5')).toContain('v1.4.5')
    expect(termsOf('mail a.b@c.org')).toContain('a.b@c.org')
    expect(queryTerms('C++')).toContain('c++')
    expect(queryTerms('C#')).toContain('c#')
  })
})

test('width, case and accents make no difference to terms', () => {
  expect(queryTerms('ＡＢ－１２')).toEqual(queryTerms('ab-12'))
  expect(meets('cafe', 'Café')).toBe(1)
})

test('forms of one English word have one stem', () => {
  const families = [
    ['passwords', 'password'],
    ['making', 'make', 'makes'],
    ['running', 'run', 'runs'],
    ['cities', 'city'],
    ['happily', 'happy'],
    ['stopped', 'stop', 'stopping'],
    ['classes', 'class'],
  ]
  for (const [first = '', ...rest] of families) {
    for (const word of rest) expect([word, stem(word)]).toEqual([word, stem(first)])
  }
  for (const word of ['bus', 'sing', 'red', 'bed', '1990s', 'café']) {
    expect(stem(word)).toBe(word)
  }
})

test('terms of hostile texts are bounded', () => {
  expect(queryTerms('啊'.repeat(3) + 'x'.repeat(10_000)).every((t) => t.length <= 50)).toBe(true)
  expect(queryTerms('知识产权保护法'.split('').join('x ').repeat(500)).length).toBeLessThanOrEqual(
    64,
  )
  expect(queryTerms('\u0000\ud800 "*" OR NEAR(')).toEqual(['or', 'near'])
  expect(termsOf(' \n。！')).toEqual([])
})
