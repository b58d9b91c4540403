import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, SURFACES } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { APP, appsOf, EMPTY, freshTenant, load, personasOf } from '../support/transfer.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const NUMBERS = Array.from({ length: 12 }, (_, i) => i)

/** Writes every one of `bodies` at once and gives what each was answered. */
async function putAll(call: Call, path: string, bodies: readonly object[]) {
  const answers = await Promise.all(bodies.map((body) => call('PUT', path, body)))
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  return answers.map((answer) => answer.json())
}

describe.each(SURFACES)('changes of one thing at the same time on %s', (surface) => {
  test('concurrent updates each return what they wrote, and one is stored', async () => {
    const { me, person } = await freshTenant(app, surface)
    const named = NUMBERS.map((i) => ({ name: `n${i}`, prompt: `p${i}`, model: `m${i}` }))
    const own = (fields: readonly string[]) =>
      named.map((body) =>
        expect.objectContaining(
          Object.fromEntries(fields.map((name) => [name, body[name as never]])),
        ),
      )
    const cases: [Call, string, string[]][] = [
      [me, '/apps', ['name', 'model']],
      [me, '/devices', ['name']],
      [person, '/personas', ['name', 'prompt']],
    ]
    for (const [call, path, fields] of cases) {
      const { id } = (await call('POST', path, { name: 'first', prompt: 'p' })).json()
      expect(await putAll(call, `${path}/${id}`, named)).toEqual(own(fields))
    }
    expect(await putAll(person, '/settings', named)).toEqual(own(['model']))
    const { model } = (await person('GET', '/settings')).json()
    expect(named.map((body) => body.model)).toContain(String(model))
  })

  test('concurrent changes of the default persona leave exactly one default', async () => {
    const { person } = await freshTenant(app, surface)
    const add = (i: number) => person('POST', '/personas', { name: `n${i}`, prompt: 'p' })
    const ids = (await Promise.all(NUMBERS.map(add))).map((answer) => answer.json().id)
    const set = await Promise.all(ids.map((id) => person('POST', `/personas/${id}/default`)))
    expect(set.map((answer) => answer.json().is_default)).toEqual(NUMBERS.map(() => 1))
    const defaults = (await personasOf(person)).filter(({ is_default }) => is_default === 1)
    expect(defaults).toHaveLength(1)
  })
})

describe.each(SURFACES)('one configuration imported several times at once on %s', (surface) => {
  test.each(['skip', 'merge'])(
    'one configuration imported several times at once with %s is stored once',
    async (mode) => {
      const { me, person } = await freshTenant(app, surface)
      const config = {
        ...EMPTY,
        personas: [
          { name: 'a', prompt: 'p', is_default: true },
          { name: 'b', prompt: 'p' },
        ],
        apps: [{ ...APP, name: 'x', persona_ref: 'b' }],
      }
      const results = await Promise.all([1, 2, 3, 4].map(() => load(me, config, mode)))
      const taken = results.map(({ imported }) => imported.personas + imported.apps)
      expect(taken.sort((a, b) => b - a)).toEqual(mode === 'skip' ? [3, 0, 0, 0] : [3, 3, 3, 3])
      expect((await personasOf(person)).map(({ name }) => name).sort()).toEqual(['a', 'b'])
      expect(await appsOf(person)).toHaveLength(1)
    },
  )
})
