import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { PROMPTS_MAX } from '../../src/core/limits/contract.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { deviceClient } from '../support/devices.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock({ start: Date.UTC(2026, 10, 22, 17, 5) })
let upstream: Upstream
let app: TestApp
let tenants = 0
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const email = () => `p${++tenants}@example.com`
const personOf = async (mail: string): Promise<Call> =>
  caller(`${app.url}/console`, (await app.person(mail)).headers)

interface Prompt {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly text: string
}

describe('prompts', () => {
  test('are made, read, replaced, listed and deleted', async () => {
    const call = await personOf(email())
    const made = await call<Prompt>('POST', '/prompts', { name: 'sum-up', text: 'Sum up {{what}}' })
    expect(made.status).toBe(201)
    const { id } = made.json()
    expect(made.json()).toMatchObject({ name: 'sum-up', title: 'sum-up', text: 'Sum up {{what}}' })
    const body = { name: 'sum', title: 'Sum', text: 'Sum' }
    expect((await call<Prompt>('PUT', `/prompts/${id}`, body)).json()).toMatchObject(body)
    expect((await call<Prompt>('GET', `/prompts/${id}`)).json()).toMatchObject(body)
    const list = (await call<{ prompts: Prompt[] }>('GET', '/prompts')).json()
    expect(list).toMatchObject({ prompts: [body], next_before: null })
    expect((await call('DELETE', `/prompts/${id}`)).json()).toEqual({ id, deleted: true })
    expect((await call('GET', `/prompts/${id}`)).status).toBe(404)
  })

  test('a name is one prompt’s, also when two come at once', async () => {
    const call = await personOf(email())
    const body = { name: 'one', text: 'x' }
    const answers = await Promise.all([
      call('POST', '/prompts', body),
      call('POST', '/prompts', body),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
    const other = (await call<Prompt>('POST', '/prompts', { name: 'two', text: 'x' })).json()
    const taken = await call('PUT', `/prompts/${other.id}`, body)
    expect([taken.status, taken.headers.get('x-error-code')]).toEqual([400, 'name_taken'])
    for (const name of ['', 'A', 'a_b', 'x'.repeat(41), 7]) {
      expect((await call('POST', '/prompts', { name, text: 'x' })).status).toBe(400)
    }
    expect((await call('POST', '/prompts', { name: 'c', text: 'x'.repeat(8_001) })).status).toBe(
      400,
    )
  })

  test('a tenant has 200, and they travel with the configuration', async () => {
    const [from, to] = [await personOf(email()), await personOf(email())]
    for (let i = 0; i < PROMPTS_MAX; i++) {
      await from('POST', '/prompts', { name: `n${i}`, title: `T ${i}`, text: `t ${i}` })
    }
    const full = await from('POST', '/prompts', { name: 'more', text: 'x' })
    expect([full.status, full.headers.get('x-error-code')]).toEqual([403, 'quota_prompts'])
    const config = (await from<{ prompts: object[] }>('GET', '/export')).json()
    expect(config.prompts).toHaveLength(PROMPTS_MAX)
    await to('POST', '/prompts', { name: 'n3', text: 'mine' })
    const result = (await to('POST', '/import', { config })).json()
    expect(result).toMatchObject({ imported: { prompts: PROMPTS_MAX - 1 } })
    const { prompts } = (await to<{ prompts: Prompt[] }>('GET', '/prompts?limit=200')).json()
    expect(prompts.find(({ name }) => name === 'n3')?.text).toBe('mine')
    expect(prompts.find(({ name }) => name === 'n4')).toMatchObject({ title: 'T 4', text: 't 4' })
  })
})

describe('variables', () => {
  const system = () => {
    const { body } = upstream.requests.at(-1) ?? {}
    return (body as unknown as { messages: { content: string }[] }).messages[0]?.content
  }
  const PROMPT =
    '{{now:date}}|{{now:time}}|{{now:weekday}}|{{app:name}}|{{device:name}}|{{user:name}}|' +
    '{{var:x}}|{{var:none}}|{{ now:date }}|{{now:year}}'

  test('of a prompt of an app are replaced once, by zone and language of the tenant', async () => {
    const mail = email()
    const person = await app.person(mail)
    const call = await personOf(mail)
    const made = await call<{ id: string }>('POST', '/apps', {
      name: '助手',
      system_prompt: PROMPT,
    })
    const ask = async (more: object) => {
      const body = {
        text: 'x',
        app_id: made.json().id,
        variables: { x: '{{app:name}}\u0007!' },
        ...more,
      }
      await (await postSse(`${app.url}/console/agent`, { headers: person.headers, body })).all()
    }
    await ask({})
    const user = mail.split('@')[0]
    const kept = '{{var:none}}|{{ now:date }}|{{now:year}}'
    expect(system()).toBe(`2026-11-22|17:05|星期日|助手||${user}|{{app:name}}!|${kept}`)
    await call('PUT', '/settings', { time_zone: 'Asia/Shanghai', language: 'en' })
    await ask({})
    expect(system()).toBe(`2026-11-23|01:05|Monday|助手||${user}|{{app:name}}!|${kept}`)
    expect((await call('GET', '/settings')).json()).toMatchObject({
      time_zone: 'Asia/Shanghai',
      language: 'en',
    })
    const wrong = await call('PUT', '/settings', { time_zone: 'Mars/Base' })
    expect([wrong.status, wrong.headers.get('x-error-code')]).toEqual([400, 'time_zone_unknown'])
    expect((await call('PUT', '/settings', { language: 'fr' })).status).toBe(400)
  })

  test('of a persona and of the app of a device are replaced, too', async () => {
    const mail = email()
    const [call, key] = [await personOf(mail), await app.key(mail)]
    const prompt = '{{user:name}}|{{app:name}}|{{device:name}}|{{var:x}}'
    const persona = await call<{ id: string }>('POST', '/personas', { name: 'P', prompt })
    const ask = async (headers: Record<string, string>, more: object) => {
      const body = { text: 'x', ...more }
      await (await postSse(`${app.url}/v1/agent`, { headers, body })).all()
    }
    await ask(key.headers, { persona_id: persona.json().id, variables: { x: 'a' } })
    expect(system()).toBe('|||a')
    const made = await call<{ id: string }>('POST', '/apps', { name: '店', system_prompt: prompt })
    const devices = deviceClient(app, key)
    const { code } = await devices.register({ name: '厨房', app_id: made.json().id })
    const device = (await (await devices.activate(code)).json()) as { key: string }
    await ask({ authorization: `Bearer ${device.key}` }, {})
    expect(system()).toBe('|店|厨房|{{var:x}}')
  })

  test('that are wrong are refused', async () => {
    const call = await personOf(email())
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`v${i}`, '']))
    for (const variables of [[], 'x', { A: 'x' }, { x: 1 }, { x: 'y'.repeat(2_001) }, many]) {
      expect((await call('POST', '/agent', { text: 'x', variables })).status).toBe(400)
    }
    const most = Object.fromEntries(Object.entries(many).slice(1))
    for (const variables of [most, { ['x'.repeat(32)]: 'y'.repeat(2_000) }, {}]) {
      expect((await call('POST', '/agent', { text: 'x', variables })).status).toBe(200)
    }
    const long = { ['x'.repeat(33)]: '' }
    expect((await call('POST', '/agent', { text: 'x', variables: long })).status).toBe(400)
  })
})
