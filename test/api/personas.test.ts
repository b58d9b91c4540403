import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'

interface Persona {
  id: string
  name: string
  prompt: string
  is_default: number
  created_at: number
}

let app: TestApp
let me: Call
let other: Call

beforeAll(async () => {
  app = await startApp()
  me = caller(`${app.url}/console`, (await app.person('a@example.com')).headers)
  other = caller(`${app.url}/console`, (await app.person('b@example.com')).headers)
})
afterAll(() => app[Symbol.asyncDispose]())

const list = async (call = me) =>
  (await call<{ personas: Persona[] }>('GET', '/personas')).json().personas
const create = async (body: object, call = me) =>
  (await call<Persona>('POST', '/personas', body)).json()
const defaults = async () => (await list()).filter(({ is_default }) => is_default === 1)

describe('create, read, update, delete', () => {
  test('a new persona is trimmed, answered with 201 and listed newest first', async () => {
    const answer = await me<Persona>('POST', '/personas', { name: ' 客服 ', prompt: ' 你是客服 ' })
    expect(answer.status).toBe(201)
    expect(answer.json()).toEqual({
      id: expect.any(String),
      name: '客服',
      prompt: '你是客服',
      is_default: 0,
      created_at: expect.any(Number),
    } as unknown as Persona)
    const next = await create({ name: 'n', prompt: 'p' })
    expect((await list()).slice(0, 2).map(({ id }) => id)).toEqual([next.id, answer.json().id])
  })

  test('an update changes name and prompt of a persona and nothing else', async () => {
    const before = await create({ name: 'a', prompt: 'b', is_default: true })
    const path = `/personas/${before.id}`
    const answer = await me<Persona>('PUT', path, { name: 'c', prompt: 'd', is_default: false })
    expect(answer.status).toBe(200)
    expect(answer.json()).toEqual({ ...before, name: 'c', prompt: 'd' })
  })

  test('a deleted persona is no longer listed', async () => {
    const { id } = await create({ name: 'a', prompt: 'b' })
    const answer = await me('DELETE', `/personas/${id}`)
    expect([answer.status, answer.json()]).toEqual([200, { id, deleted: true }])
    expect((await me('DELETE', `/personas/${id}`)).status).toBe(404)
  })

  const longest = { name: '名'.repeat(200), prompt: '词'.repeat(8000) }
  test('the length of a persona counts characters after trimming', async () => {
    const emoji = { name: ` ${'🦊'.repeat(200)} `, prompt: ` ${'🦊'.repeat(8000)} ` }
    expect((await me('POST', '/personas', longest)).status).toBe(201)
    expect((await me('POST', '/personas', emoji)).status).toBe(201)
  })

  test.each([
    [{}],
    [{ name: 'a' }],
    [{ prompt: 'a' }],
    [{ name: ' ', prompt: 'a' }],
    [{ name: 'a', prompt: '\n' }],
    [{ ...longest, name: `${longest.name}名` }],
    [{ ...longest, prompt: `${longest.prompt}词` }],
    [{ name: 1, prompt: 'a' }],
    [{ name: 'a', prompt: null }],
  ])('a wrong persona is refused on create and on update (%#)', async (body) => {
    const { id } = (await list())[0] as Persona
    for (const [method, path] of [
      ['POST', '/personas'],
      ['PUT', `/personas/${id}`],
    ] as const) {
      const answer = await me(method, path, body)
      expect(answer.status).toBe(400)
      expect(answer.text).toMatch(/(name|prompt).*\p{Script=Han}|\p{Script=Han}.*(name|prompt)/u)
    }
  })

  test('is_default is a boolean when a persona is created', async () => {
    const answer = await me('POST', '/personas', { name: 'a', prompt: 'b', is_default: 1 })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('is_default')
  })
})

describe('the default', () => {
  test('creating a default persona clears the default before', async () => {
    await create({ name: 'one', prompt: 'p', is_default: true })
    const two = await create({ name: 'two', prompt: 'p', is_default: true })
    expect((await defaults()).map(({ id }) => id)).toEqual([two.id])
  })

  test('the default persona can be set and cleared', async () => {
    const { id } = await create({ name: 'three', prompt: 'p' })
    const set = await me<Persona>('POST', `/personas/${id}/default`)
    expect([set.status, set.json().is_default, set.json().id]).toEqual([200, 1, id])
    expect((await defaults()).map((persona) => persona.id)).toEqual([id])
    const cleared = await me<Persona>('DELETE', `/personas/${id}/default`)
    expect([cleared.status, cleared.json().is_default]).toEqual([200, 0])
    expect(await defaults()).toEqual([])
  })

  test('an unknown id leaves the default persona unchanged', async () => {
    const { id } = await create({ name: 'four', prompt: 'p', is_default: true })
    const foreign = await create({ name: 'theirs', prompt: 'p' }, other)
    expect((await me('POST', `/personas/${foreign.id}/default`)).status).toBe(404)
    expect((await me('POST', '/personas/nothing/default')).status).toBe(404)
    expect((await defaults()).map((persona) => persona.id)).toEqual([id])
  })

  test('a tenant has at most one default persona after concurrent changes', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, i) => create({ name: `n${i}`, prompt: 'p', is_default: true })),
    )
    expect(await defaults()).toHaveLength(1)
    const answers = await Promise.all(made.map(({ id }) => me('POST', `/personas/${id}/default`)))
    expect(answers.map(({ status }) => status)).toEqual(made.map(() => 200))
    expect(await defaults()).toHaveLength(1)
  })
})
