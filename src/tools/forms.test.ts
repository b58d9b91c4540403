import { describe, expect, test } from 'bun:test'
import { asksForSecret, isForm } from './forms.ts'

const text = { type: 'string' }
const form = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, text])),
})

describe('a form', () => {
  test('has twenty flat fields at most', () => {
    const names = Array.from({ length: 21 }, (_, index) => `f${index}`)
    expect(isForm(form())).toBe(true)
    expect(isForm(form(...names.slice(1)))).toBe(true)
    expect(isForm(form(...names))).toBe(false)
    for (const type of ['object', 'array', 'null', undefined]) {
      expect(isForm({ type: 'object', properties: { a: { type } } })).toBe(false)
    }
  })

  test.each([
    ...['password', 'dbPassword', 'pass_phrase', 'access_token', 'refreshToken', 'secret'],
    ...['client_secret', 'key', 'api_key', 'apiKey', 'apikey', 'privatekey', 'card', 'card-number'],
    ...['cardNumber', 'cardnumber', 'creditCard', 'CVV', '密码', '口令', '银行卡号'],
  ])('with a field named %s warns', (name) => {
    expect(asksForSecret(form('room', name))).toBe(true)
    expect(asksForSecret({ type: 'object', properties: { a: { ...text, title: name } } })).toBe(
      true,
    )
  })

  test.each(['room', 'monkey', 'keyboard', 'turkey', 'cardinal', 'discard', 'spin', 'passenger'])(
    'with a field named %s does not',
    (name) => expect(asksForSecret(form(name))).toBe(false),
  )
})
