import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { ERRORS } from '../../src/core/error-table.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { errorProblem } from '../support/error-answer.ts'

const rows = Object.entries(ERRORS).map(([code, [status, sentence]]) => ({
  code,
  status,
  sentence,
}))

let app: TestApp
let general: Call
let device: Call
let anyone: Call
beforeAll(async () => {
  app = await startApp()
  general = caller(app.url, (await app.key()).headers)
  device = caller(app.url, (await app.key('a@example.com', { deviceId: 'd' })).headers)
  anyone = caller(app.url, {})
})
afterAll(() => app[Symbol.asyncDispose]())

describe('the table of errors', () => {
  test('the table of errors names each error by a stable lower-case word', () => {
    expect(rows.filter(({ code }) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(code))).toEqual([])
  })

  test('the table of errors has one short Chinese sentence a code, and one code a sentence', () => {
    const unfit = ({ sentence }: (typeof rows)[number]) =>
      sentence.length > 60 || !/\p{Script=Han}/u.test(sentence)
    expect(rows.filter(unfit)).toEqual([])
    expect(new Set(rows.map(({ sentence }) => sentence)).size).toBe(rows.length)
  })

  test('the table of errors holds no code that the program never uses', async () => {
    const root = join(import.meta.dir, '../../src')
    const texts: string[] = []
    for await (const path of new Bun.Glob('**/*.ts').scan(root)) {
      const isTable = path.endsWith('error-table.ts')
      if (!isTable && !path.includes('.test.')) texts.push(await Bun.file(join(root, path)).text())
    }
    const source = texts.join('\n')
    expect(
      rows.filter(({ code }) => !source.includes(`'${code}'`)).map(({ code }) => code),
    ).toEqual([])
  })
})

describe('a refused request carries its code', () => {
  const cases: readonly (readonly [string, () => ReturnType<Call>, string, string | null])[] = [
    ['no key', () => anyone('GET', '/v1/apps'), 'invalid_key', null],
    ['no cookie', () => anyone('GET', '/console/apps'), 'not_signed_in', null],
    [
      'a device key that manages',
      () => device('GET', '/v1/apps'),
      'forbidden_key_kind',
      'who=device',
    ],
    ['an unknown path', () => general('GET', '/v1/none'), 'not_found', 'what=path'],
    ['an unknown app', () => general('GET', '/v1/apps/none'), 'not_found', 'what=app'],
    ['a wrong method', () => general('PATCH', '/v1/apps'), 'method_not_allowed', null],
    ['no JSON', () => general('POST', '/v1/agent', '{'), 'invalid_json', null],
    [
      'a missing field',
      () => general('POST', '/v1/apps', {}),
      'field_required',
      'field=name&kind=string',
    ],
    [
      'a name that is too long',
      () => general('POST', '/v1/apps', { name: 'n'.repeat(61) }),
      'field_too_long',
      'field=name&max=60',
    ],
    [
      'a wrong login code',
      () => anyone('POST', '/auth/email/verify', { email: 'a@example.com', code: '1' }),
      'login_code_wrong',
      null,
    ],
    [
      'an unknown way to log in',
      () => anyone('GET', '/auth/oauth/none'),
      'login_method_unknown',
      null,
    ],
    [
      'a document that is too large',
      () => general('POST', '/v1/kb/docs', { title: 't', text: 'x'.repeat(102_401) }),
      'doc_too_large',
      'max=100',
    ],
  ]
  test.each(cases)('the refusal of %s carries its error code', async (_, send, code, params) => {
    const answer = await send()
    expect(errorProblem(answer)).toBeNull()
    expect(answer.headers.get('x-error-code')).toBe(code)
    expect(answer.headers.get('x-error-params')).toBe(params)
  })

  test('a page of another origin may read the error code on the machine side', async () => {
    const { headers } = await general('GET', '/v1/apps/none')
    expect(headers.get('access-control-expose-headers')).toContain('X-Error-Code, X-Error-Params')
  })
})

test('the API document lists every code with its status and sentence', async () => {
  interface Document {
    components: { headers: Record<string, { description: string; schema: { enum: string[] } }> }
  }
  const document = (await anyone<Document>('GET', '/openapi.json')).json()
  const header = document.components.headers['X-Error-Code']
  expect(header?.schema.enum).toEqual(rows.map(({ code }) => code))
  const line = (row: (typeof rows)[number]) => `\`${row.code}\` ${row.status} ${row.sentence}`
  expect(rows.filter((row) => !header?.description.includes(line(row)))).toEqual([])
})
