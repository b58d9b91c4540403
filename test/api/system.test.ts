import { expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { ON_POSTGRES, startApp } from '../support/app.ts'
import { requestCode, verifyCode } from '../support/login.ts'
import { storedIn } from '../support/stored.ts'
import { byName, settingsBy, systemUnderTest } from '../support/system.ts'
import { tempFolder } from '../support/temp.ts'

const SECRET = 'sk-secret-of-the-platform-9876'

const { app, upstream, call, put, settings, turn, trial } = systemUnderTest()

test('only the tail of a secret is shown, and neither log nor disk contain it', async () => {
  const answer = await put({ MB_LLM_BASE_URL: upstream().baseUrl, MB_LLM_API_KEY: SECRET })
  const { MB_LLM_API_KEY } = byName(answer.json().settings)
  expect(MB_LLM_API_KEY).toMatchObject({ value: null, secret_tail: '9876', source: 'console' })
  upstream().fault(500)
  await turn()
  await trial('llm')
  await app().flush()
  const stored = await storedIn(app())
  expect(stored).toContain('MB_LLM_API_KEY')
  const texts = [answer.text, app().log(), (await call('GET', '/export')).text, stored]
  for (const text of texts) expect(text).not.toContain(SECRET)
})

test('a wrong value is refused by its name, and nothing of the change applies', async () => {
  const before = await settings()
  const wrong: [Record<string, unknown>, string][] = [
    [{ MB_SIGNUP: 'closed', MB_PUBLIC_URL: 'nowhere' }, 'MB_PUBLIC_URL'],
    [{ MB_SIGNUP: 'everybody' }, 'MB_SIGNUP'],
    [{ MB_SIGNUP: 5 }, 'MB_SIGNUP'],
    [{ MB_LLM_API_KEY: 'a\nb' }, 'MB_LLM_API_KEY'],
    [{ MB_LLM_DETECT: 'maybe' }, 'MB_LLM_DETECT'],
    [{ MB_ALLOW_PRIVATE_HOSTS: 'a b' }, 'MB_ALLOW_PRIVATE_HOSTS'],
    [{ MB_SMTP_URL: 'http://mail' }, 'MB_SMTP_URL'],
    [{ MB_MAIL_FROM: 'a@example.com\r\nBcc: b@example.com' }, 'MB_MAIL_FROM'],
    // Parts are made of several settings: this one breaks only beside the other.
    [
      { MB_LLM_MODEL: 'm', MB_TTS_KIND: 'wyoming', MB_TTS_BASE_URL: 'http://h/v1' },
      'MB_TTS_BASE_URL',
    ],
    [{ MB_PORT: '80' }, 'MB_PORT'],
    [{ MB_LLM_MODEL: 'x'.repeat(4_001) }, 'MB_LLM_MODEL'],
  ]
  for (const [body, name] of wrong) {
    const answer = await put(body)
    expect({ name, status: answer.status }).toEqual({ name, status: 400 })
    expect(answer.text).toContain(name)
  }
  expect((await put([])).status).toBe(400)
  expect((await put({ unknown: 1 })).status).toBe(200)
  expect(await settings()).toEqual(before)
  expect(
    (await verifyCode(app(), 'new@example.com', await requestCode(app(), 'new@example.com')))
      .status,
  ).toBe(200)
})

test('a setting of the environment is shown, wins and is locked', async () => {
  await using fixed = await startApp({
    env: {
      MB_SIGNUP: 'closed',
      MB_LLM_API_KEY: SECRET,
      MB_PUBLIC_URL: 'https://u:pw@box.example/',
    },
  })
  const operator = caller(`${fixed.url}/console`, (await fixed.operator()).headers)
  const shown = await settingsBy(operator)
  expect(shown.MB_SIGNUP).toMatchObject({ value: 'closed', source: 'environment', locked: true })
  expect(shown.MB_LLM_API_KEY).toMatchObject({ value: null, secret_tail: '9876', locked: true })
  expect(shown.MB_PUBLIC_URL?.value).toBe('https://box.example/')
  // Whoever set the key chose where it goes: no address of the console may get it.
  expect(shown.MB_LLM_BASE_URL).toMatchObject({ source: 'default', locked: true })
  for (const name of ['MB_SIGNUP', 'MB_LLM_API_KEY', 'MB_LLM_BASE_URL']) {
    const answer = await operator('PUT', '/system', { MB_LLM_MODEL: 'm', [name]: null })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('x-error-code')).toBe('setting_locked')
    expect(answer.text).toContain(name)
  }
  expect((await settingsBy(operator)).MB_LLM_MODEL?.source).toBe('default')
  const listed = await operator('POST', '/system/models', { base_url: upstream().baseUrl })
  expect(listed.json()).toEqual({ models: ['fake', 'fake-2', 'fake-embed'], error_class: null })
  expect((await upstream().nextRequest('/models')).headers.authorization).toBeUndefined()
})

test('a key does not follow its address to another server', async () => {
  await put({ MB_LLM_BASE_URL: upstream().baseUrl, MB_LLM_API_KEY: SECRET })
  await call('POST', '/system/models', { base_url: upstream().baseUrl })
  expect((await upstream().nextRequest('/models')).headers.authorization).toBe(`Bearer ${SECRET}`)
  await put({ MB_LLM_BASE_URL: `${upstream().baseUrl}/` })
  expect((await settings()).MB_LLM_API_KEY?.secret_tail).toBe('9876')
  await put({ MB_LLM_BASE_URL: `http://localhost:${upstream().port}/v1` })
  expect((await settings()).MB_LLM_API_KEY).toMatchObject({ secret_tail: null, source: 'default' })
})

test('a page of another origin cannot change the server', async () => {
  const headers = { origin: 'https://evil.example' }
  for (const [method, path] of [
    ['PUT', ''],
    ['POST', '/test'],
    ['POST', '/models'],
  ] as const) {
    expect((await call(method, `/system${path}`, {}, headers)).status).toBe(403)
  }
})

test('settings of the console survive a restart and never prevent one', async () => {
  using folder = tempFolder()
  const dataDir = folder.path
  const set = { MB_TTS_KIND: 'wyoming', MB_TTS_BASE_URL: 'tcp://127.0.0.1:9', MB_LLM_MODEL: 'm7' }
  let cookie: Record<string, string>
  {
    await using first = await startApp({ dataDir })
    cookie = (await first.operator()).headers
    expect((await caller(`${first.url}/console`, cookie)('PUT', '/system', set)).status).toBe(200)
  }
  // The environment now sets an address that does not go with the kind of the console.
  await using second = await startApp({
    dataDir,
    env: { MB_TTS_BASE_URL: 'http://127.0.0.1:9/v1' },
  })
  const shown = await settingsBy(caller(`${second.url}/console`, cookie))
  expect(shown.MB_LLM_MODEL).toMatchObject({ value: 'm7', source: 'console' })
  expect(shown.MB_TTS_KIND).toMatchObject({ value: 'wyoming', source: 'console' })
  expect(second.log()).toContain('settings of the console cannot be used')
})

test.skipIf(ON_POSTGRES)('no system setting can be saved without an encryption key', async () => {
  await using open = await startApp({ env: { MB_ENCRYPTION_KEY: 'off' } })
  const operator = caller(`${open.url}/console`, (await open.operator()).headers)
  expect((await operator('GET', '/system')).status).toBe(200)
  expect((await operator('PUT', '/system', { MB_LLM_MODEL: 'm' })).status).toBe(503)
})
