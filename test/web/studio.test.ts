import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { launch, visit } from '../support/chromium.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { BUILD_MS, buildConsole, describeWeb } from './setup.ts'
import { ask, ended, field } from './studio-page.ts'

const GREET = { language: 'en' } as const

describeWeb('the studio', () => {
  let world: Failover
  let browser: Browser
  let session: SignedIn
  beforeAll(async () => {
    await buildConsole()
    world = await startFailover()
    browser = await launch()
    session = await signIn(world.app)
  }, BUILD_MS)
  afterEach(() => world.reset())
  afterAll(async () => {
    await browser.close()
    await world[Symbol.asyncDispose]()
  })

  async function open() {
    const guest = await visit(browser, world.app.url, GREET, session)
    await guest.page.goto('/app/studio')
    await field(guest.page).waitFor()
    return guest
  }

  test('a wide table scrolls by itself and the page does not', async () => {
    await using guest = await open()
    const { page } = guest
    await page.setViewportSize({ width: 390, height: 800 })
    const cell = 'w'.repeat(60)
    world.platform.reply({
      pieces: [`| a | b | c |\n| - | - | -: |\n| ${cell} | ${cell} | 3.14 |`],
    })
    await ended(await ask(page, 'a table, please'))
    const right = (of: string) =>
      page
        .locator(of)
        .last()
        .evaluate((element) => element.getBoundingClientRect().right)
    expect(await right('.bubble')).toBeLessThanOrEqual(390)
    expect(await right('.prose > div')).toBeLessThanOrEqual(390)
    expect(await right('.prose table')).toBeGreaterThan(390)
  }, 60_000)

  test('a reply of thousands of nested quotes is shown as text', async () => {
    await using guest = await open()
    const { page } = guest
    world.platform.reply({ pieces: ['> '.repeat(5_000)] })
    await ended(await ask(page, 'quotes, please'))
    await page.locator('.prose pre', { hasText: '> > >' }).waitFor()
    world.platform.reply({ pieces: ['still here'] })
    await ask(page, 'and now?')
    await page.locator('.prose', { hasText: 'still here' }).waitFor()
  }, 60_000)

  test('the studio says when a reply was written without the knowledge base', async () => {
    await using guest = await open()
    const { page } = guest
    const stored = await page.request.post(`${world.app.url}/console/kb/docs`, {
      data: { title: 'Power', text: 'The base is powered by solar panels at the south pole.' },
      headers: { origin: world.app.url },
    })
    expect(stored.status()).toBe(201)
    world.platform.embeddings.alwaysFault(400)
    const turn = await ask(page, 'What powers the base?')
    await ended(turn)
    await turn.getByText(en['studio.kb-skipped']).waitFor()
    world.platform.reset()
    await ended(await ask(page, 'And now?'))
    expect(await page.getByText(en['studio.kb-skipped']).count()).toBe(1)
  }, 60_000)

  test('the studio shows a reply while it streams, and its tools and passages', async () => {
    await using guest = await open()
    const { page } = guest
    const rest = Promise.withResolvers<void>()
    const call = { name: 'calculator', arguments: { expression: '6*7' } }
    world.platform.reply({ toolCalls: [call] })
    world.platform.reply({
      pieces: ['It is **forty', '-two**.\n\n', '- done\n'],
      hold: { after: 1, until: rest.promise },
    })
    const turn = await ask(page, 'six times seven?')
    await page.getByText('It is').waitFor()
    await page.getByText('calculator').waitFor()
    rest.resolve()
    await page.locator('.prose strong', { hasText: 'forty-two' }).waitFor()
    await ended(turn)
    expect(await page.locator('.prose li').allTextContents()).toEqual(['done'])
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('the studio draws a reply of 5,000 tokens to its end', async () => {
    await using guest = await open()
    const { page } = guest
    const pieces = Array.from({ length: 5_000 }, (_, n) =>
      n % 40 === 39 ? `w${n}.\n\n` : `w${n} `,
    )
    world.platform.reply({ pieces })
    await ended(await ask(page, 'a long one'))
    const words = ((await page.locator('.prose').last().textContent()) ?? '').match(/w\d+/g)
    expect(words).toHaveLength(5_000)
    expect(words?.at(-1)).toBe('w4999')
  }, 60_000)

  test('stopping a reply in the studio stops the upstream', async () => {
    await using guest = await open()
    const { page } = guest
    world.platform.fault('hang', { after: 2 })
    const turn = await ask(page, 'never ends')
    await turn.locator('.prose', { hasText: 'one two' }).waitFor()
    await page.getByRole('button', { name: en['studio.stop'] }).click()
    await turn.getByText(en['studio.stopped'].replace('{count}', '2')).waitFor()
    await world.platform.aborted()
  }, 60_000)

  test('the studio reports a fallback, retries, and sends pasted pictures', async () => {
    await using guest = await open()
    const { page } = guest
    const saved = await fetch(`${world.app.url}/console/provider`, {
      method: 'PUT',
      headers: { ...session.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ base_url: world.byo.baseUrl, api_key: 'k', failover: true }),
    })
    expect(saved.status).toBe(200)
    world.byo.fault(401)
    world.platform.reply({ text: 'from the platform' })
    const first = await ask(page, 'who answers?')
    await ended(first)
    await first.getByText(en['fallback.title']).waitFor()
    await first.locator('.prose', { hasText: 'from the platform' }).waitFor()
    await first.getByText(en['channel.fallback']).waitFor()

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
    const lastAsked = () => JSON.stringify(world.asked(world.byo).at(-1)?.body)
    expect(lastAsked()).toContain('data:image/png;base64,')
    world.byo.reply({ text: 'a square' })
    await page.getByRole('button', { name: en['studio.again'] }).click()
    await page.locator('.prose', { hasText: 'a square' }).waitFor()
    expect(world.asked(world.byo)).toHaveLength(3)
    expect(lastAsked()).toContain('data:image/png')
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
    await page.goto('/app/studio')
    await page.getByRole('button', { name: en['studio.voice'], exact: true }).click()
    await page.getByRole('button', { name: en['studio.voice.stop'] }).click()
    await page.locator('.bubble', { hasText: '今天天气怎么样' }).waitFor()
    await page.locator('.prose', { hasText: 'It is sunny.' }).waitFor()
    expect(await page.locator('audio').getAttribute('src')).toStartWith('data:audio/mpeg;base64,')
    expect(guest.complaints).toEqual([])
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
    await page.goto('/app/studio')
    await page.getByRole('button', { name: en['studio.voice'], exact: true }).click()
    await microphone('live')
    await page.getByRole('link', { name: en['nav.usage'] }).click()
    await microphone('ended')
    expect(guest.complaints).toEqual([])
  }, 60_000)
})
