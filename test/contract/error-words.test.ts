import { describe, expect, test } from 'bun:test'
import { ERRORS, WORDS } from '../../src/core/error-table.ts'
import { appError, type ErrorCode } from '../../src/core/errors.ts'
import { ERROR_WORDS, errorInEnglish, VALUE_WORDS } from '../../web/i18n/error-words.ts'

const CODES = Object.keys(ERRORS) as ErrorCode[]
const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** A value that the server may send for a name: a word of the table, or anything. */
const sampleOf = (name: string) => Object.keys(WORDS[name] ?? { '7': '' })[0] ?? ''

describe('the English for an error of the server', () => {
  test.each(CODES)(
    'the English for the error %s fills in only values that come with it',
    (code) => {
      const sent = holes(ERRORS[code][1])
      for (const name of holes(ERROR_WORDS[code])) expect(sent).toContain(name)
    },
  )

  test.each(CODES)('the English for the error %s is English, with all its values', (code) => {
    const params = Object.fromEntries(holes(ERRORS[code][1]).map((name) => [name, sampleOf(name)]))
    expect(errorInEnglish(code, params)).toMatch(/^[A-Za-z7][^{}\p{Script=Han}]+$/u)
  })

  test.each(CODES)('the sentence of the error %s holds no address', (code) => {
    expect(ERRORS[code][1]).not.toMatch(/:\/\//)
  })

  test('the English for errors knows every word that the server fills in', () => {
    const names = (words: typeof WORDS) =>
      Object.entries(words).map(([name, values]) => [name, Object.keys(values).sort()])
    expect(names(VALUE_WORDS)).toEqual(names(WORDS))
  })

  test('an error has no English for an unknown code or without its values', () => {
    expect(errorInEnglish('from_the_future', {})).toBeNull()
    expect(errorInEnglish('quota_docs', {})).toBeNull()
    const { code, params } = appError('quota_docs', { max: 50 })
    const sent = Object.fromEntries(new URLSearchParams(`max=${params.max}`))
    expect(errorInEnglish(code, sent)).toBe('The limit of 50 documents is reached')
  })
})
