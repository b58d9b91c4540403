import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { toolName } from '../../web/i18n/tool-words.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { launch, visit } from '../support/chromium.ts'
import { startLine } from '../support/cut.ts'
import { signIn } from '../support/login.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { goTo } from './go-to.ts'
import { buildConsole, describeWeb, soon } from './setup.ts'
import { ask, ended, field, openWhy, turnOf, useStudio } from './studio-page.ts'

const GREET = { language: 'en' } as const

describeWeb('the studio', () => {
  const at = useStudio()

  test('a wide table scrolls by itself and the page does not', async () => {
    await using guest = await at.open()
    const { page } = guest
    await page.setViewportSize({ width: 390, height: 800 })
    const cell = 'w'.repeat(60)
    at.world.platform.reply({
      pieces: [`| a | b | c |\n| - | - | -: |\n| ${cell} | ${cell} | 3.14 |`],
    })
    await ended(await ask(page, 'a table, please'))
    const right = (of: string) =>
      page
        .locator(of)
        .last()
        .evaluate((element) => element.getBoundingClientRect().right)
    expect(await right('.bubble')).toBeLessThanOrEqual(390)
    expect(await right('.prose .table-scroll')).toBeLessThanOrEqual(390)
    expect(await right('.prose table')).toBeGreaterThan(390)
  }, 60_000)

  test('a reply of thousands of nested quotes is shown as text', async () => {
    await using guest = await at.open()
    const { page } = guest
    at.world.platform.reply({ pieces: ['> '.repeat(5_000)] })
    await ended(await ask(page, 'quotes, please'))
    await page.locator('.prose pre', { hasText: '> > >' }).waitFor()
    at.world.platform.reply({ pieces: ['still here'] })
    await ask(page, 'and now?')
    await page.locator('.prose', { hasText: 'still here' }).waitFor()
  }, 60_000)

  test('the studio says when a reply was written without the knowledge base', async () => {
    await using guest = await at.open()
    const { page } = guest
    const stored = await page.request.post(`${at.world.app.url}/console/kb/docs`, {
      data: { title: 'Power', text: 'The base is powered by solar panels at the south pole.' },
      headers: { origin: at.world.app.url },
    })
    expect(stored.status()).toBe(201)
    at.world.platform.embeddings.alwaysFault(400)
    const turn = await ask(page, 'What powers the base?')
    await ended(turn)
    await turn.getByText(en['studio.kb-skipped']).waitFor()
    at.world.platform.reset()
    await ended(await ask(page, 'And now?'))
    expect(await page.getByText(en['studio.kb-skipped']).count()).toBe(1)
  }, 60_000)

  test('the studio shows a reply while it streams, and its tools and passages', async () => {
    await using guest = await at.open()
    const { page } = guest
    const rest = Promise.withResolvers<void>()
    const call = { name: 'calculator', arguments: { expression: '6*7' } }
    at.world.platform.reply({ toolCalls: [call] })
    at.world.platform.reply({
      pieces: ['It is **forty', '-two**.\n\n', '- done\n'],
      hold: { after: 1, until: rest.promise },
    })
    const turn = await ask(page, 'six times seven?')
    await page.getByText('It is').waitFor()
    await turn
      .getByText(en['studio.tools.used'].replace('{name}', toolName('calculator', 'en')))
      .waitFor()
    // What is sent while an answer is coming goes once that has ended.
    await field(page).fill('and seven times seven?')
    await page.keyboard.press('Enter')
    await page.getByText(en['studio.queued']).waitFor()
    at.world.platform.reply({ text: 'Forty-nine.' })
    rest.resolve()
    await turn.locator('.prose strong', { hasText: 'forty-two' }).waitFor()
    const next = turnOf(page, 'and seven times seven?')
    await next.locator('.prose', { hasText: 'Forty-nine.' }).waitFor()
    await ended(next)
    expect(await field(page).inputValue()).toBe('')
    expect(await page.locator('.prose li').allTextContents()).toEqual(['done'])
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('the studio draws a reply of 5,000 tokens to its end', async () => {
    await using guest = await at.open()
    const { page } = guest
    const pieces = Array.from({ length: 5_000 }, (_, n) =>
      n % 40 === 39 ? `w${n}.\n\n` : `w${n} `,
    )
    at.world.platform.reply({ pieces })
    await ended(await ask(page, 'a long one'))
    const words = ((await page.locator('.prose').last().textContent()) ?? '').match(/w\d+/g)
    expect(words).toHaveLength(5_000)
    expect(words?.at(-1)).toBe('w4999')
  }, 60_000)

  test('stopping a reply in the studio stops the upstream', async () => {
    await using guest = await at.open()
    const { page } = guest
    at.world.platform.fault('hang', { after: 2 })
    const turn = await ask(page, 'never ends')
    await turn.locator('.prose', { hasText: 'one two' }).waitFor()
    await page.getByRole('button', { name: en['studio.stop'] }).click()
    await turn.getByText(en['studio.stopped.kept']).waitFor()
    await at.world.platform.aborted()
  }, 60_000)

  test('an answer goes on after the line was lost in its middle', async () => {
    await using line = await startLine(Number(new URL(at.world.app.url).port))
    await using guest = await at.open(`http://127.0.0.1:${line.port}`)
    const { page } = guest
    at.world.platform.fault('hang', { after: 2 })
    const turn = await ask(page, 'breaks off')
    await turn.locator('.prose', { hasText: 'one two' }).waitFor()
    line.cut()
    await page.getByText(en['away.text']).waitFor()
    line.mend()
    await page.getByText(en['away.text']).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: en['studio.stop'] }).click()
    await turn.getByText(en['studio.stopped.kept']).waitFor()
    await turn.locator('.prose', { hasText: 'one two' }).waitFor()
  }, 60_000)

  test('the studio reports a fallback, retries, and sends pasted pictures', async () => {
    await using guest = await at.open()
    const { page } = guest
    const saved = await fetch(`${at.world.app.url}/console/provider`, {
      method: 'PUT',
      headers: { ...at.session.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ base_url: at.world.byo.baseUrl, api_key: 'k', failover: true }),
    })
    expect(saved.status).toBe(200)
    at.world.byo.fault(401)
    at.world.platform.reply({ text: 'from the platform' })
    const first = await ask(page, 'who answers?')
    await ended(first)
    await first.getByText(en['fallback.title']).waitFor()
    await first.locator('.prose', { hasText: 'from the platform' }).waitFor()
    const told = `${en['fallback.title']} from the platform`
    await page.getByRole('status').filter({ hasText: told }).waitFor()
    await openWhy(first)
    await page
      .getByRole('complementary', { name: en['studio.right'] })
      .getByText(en['channel.fallback'])
      .waitFor()

    await field(page).focus()
    await page.evaluate(async () => {
      const canvas = document.createElement('canvas')
      canvas.width = canvas.height = 4
      const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done))
      if (blob) await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })])
    })
    await page.keyboard.press('Control+V')
    await page.getByRole('img', { name: 'Image 1' }).waitFor()
    await ended(await ask(page, 'what is this?'))
    const lastAsked = () => JSON.stringify(at.world.asked(at.world.byo).at(-1)?.body)
    expect(lastAsked()).toContain('data:image/png;base64,')
    at.world.byo.reply({ text: 'a square' })
    await turnOf(page, 'what is this?').getByRole('button', { name: en['studio.again'] }).click()
    await page.locator('.prose', { hasText: 'a square' }).waitFor()
    expect(at.world.asked(at.world.byo)).toHaveLength(3)
    expect(lastAsked()).toContain('data:image/png')

    const shown = page.locator('.question img').first()
    expect(await shown.getAttribute('src')).toStartWith('data:')
    const talk = page.url()
    await page.getByRole('button', { name: en['studio.new'] }).first().click()
    await page.getByText(en['studio.empty'], { exact: true }).waitFor()
    await page.goBack()
    await page.waitForURL(talk)
    await soon(async () => (await shown.getAttribute('src'))?.slice(0, 5), '/cons')
    expect(guest.complaints).toEqual([])
  }, 60_000)
})

describeWeb('speaking', () => {
  let upstream: Upstream
  let app: TestApp
  let browser: Browser
  beforeAll(async () => {
    await buildConsole()
    upstream = await startUpstream()
    const env = { MB_ASR_BASE_URL: upstream.baseUrl, MB_TTS_BASE_URL: upstream.baseUrl }
    app = await startApp({ upstream: upstream.baseUrl, env })
    browser = await launch()
  })
  afterAll(async () => {
    await browser.close()
    await app[Symbol.asyncDispose]()
    await upstream.stop()
  })

  test('the studio records speech, answers and plays the reply', async () => {
    await using guest = await visit(browser, app.url, GREET, await signIn(app))
    const { page } = guest
    upstream.reply({ text: 'It is sunny.' })
    await page.goto('/app')
    await page.getByRole('button', { name: en['studio.voice'], exact: true }).click()
    await page.getByRole('button', { name: en['studio.voice.stop'] }).click()
    await page.locator('.bubble', { hasText: '今天天气怎么样' }).waitFor()
    await page.locator('.prose', { hasText: 'It is sunny.' }).waitFor()
    const address = (await page.locator('audio').getAttribute('src')) ?? ''
    expect(address).toStartWith('blob:')
    expect(guest.complaints).toEqual([])
    await goTo(page, 'nav.kb')
    const isKept = (sound: string) => fetch(sound).then(Boolean, () => false)
    await soon(() => page.evaluate(isKept, address), false)
  }, 60_000)

  test('the microphone is released when the studio is left', async () => {
    await using guest = await visit(browser, app.url, GREET, await signIn(app))
    const { page } = guest
    await page.addInitScript(() => {
      const { mediaDevices } = navigator
      const ask = mediaDevices.getUserMedia.bind(mediaDevices)
      mediaDevices.getUserMedia = async (wanted) => {
        const stream = await ask(wanted)
        Object.assign(window, { heard: stream.getAudioTracks()[0] })
        return stream
      }
      // The first sound comes late, so the page is left before the recording has begun.
      const start = MediaRecorder.prototype.start
      MediaRecorder.prototype.start = function () {
        start.call(this, 1_500)
      }
    })
    const microphone = (state: MediaStreamTrackState) =>
      page.waitForFunction(
        (wanted) => (window as { heard?: MediaStreamTrack }).heard?.readyState === wanted,
        state,
      )
    await page.goto('/app')
    await page.getByRole('button', { name: en['studio.voice'], exact: true }).click()
    await microphone('live')
    await goTo(page, 'nav.usage')
    await microphone('ended')
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('a recorder that the server has no more is no fault of the microphone', async () => {
    await using guest = await visit(browser, app.url, GREET, await signIn(app))
    const { page } = guest
    await page.goto('/app')
    const voice = page.getByRole('button', { name: en['studio.voice'], exact: true })
    await voice.waitFor()
    await page.waitForLoadState('networkidle')
    await page.route('**/assets/*.js', (route) => route.fulfill({ status: 404 }))
    await voice.click()
    await page.getByText(en['outdated.text']).waitFor()
    await voice.waitFor()
    expect(await page.getByText(en['studio.voice.failed']).count()).toBe(0)
  }, 60_000)

  test('nothing of a recording is left when it was discarded', async () => {
    await using guest = await visit(browser, app.url, GREET, await signIn(app))
    const { page } = guest
    await page.addInitScript(() => {
      const made: AudioContext[] = []
      Object.assign(window, { made })
      window.AudioContext = class extends AudioContext {
        constructor() {
          super()
          made.push(this)
        }
      }
    })
    await page.goto('/app')
    await page.getByRole('button', { name: en['studio.voice'], exact: true }).click()
    await page.getByRole('meter').waitFor()
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => {
      const { made } = window as unknown as { made: readonly AudioContext[] }
      return made.length > 0 && made.every(({ state }) => state === 'closed')
    })
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
