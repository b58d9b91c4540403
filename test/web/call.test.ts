import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page, Request } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { seriousFindings } from '../support/axe.ts'
import { launch, visit } from '../support/chromium.ts'
import { type SignedIn, signIn } from '../support/login.ts'
import { giveMicrophone } from '../support/microphone.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { goTo } from './go-to.ts'
import { BUILD_MS, buildConsole, describeWeb, soon } from './setup.ts'
import { field } from './studio-page.ts'

const state = (page: Page, key: keyof typeof en) =>
  page.getByRole('region', { name: en['call.name'] }).getByText(en[key], { exact: true }).waitFor()
const button = (page: Page, key: keyof typeof en) =>
  page.getByRole('button', { name: en[key], exact: true })

const isSame = (one: Request) => (other: Request) => other === one

describeWeb('a call', () => {
  const held = {} as { upstream: Upstream; app: TestApp; browser: Browser; session: SignedIn }
  beforeAll(async () => {
    await buildConsole()
    held.upstream = await startUpstream()
    const { baseUrl } = held.upstream
    const env = { MB_ASR_BASE_URL: baseUrl, MB_TTS_BASE_URL: baseUrl }
    held.app = await startApp({ upstream: baseUrl, env })
    held.browser = await launch()
    held.session = await signIn(held.app)
  }, BUILD_MS)
  afterAll(async () => {
    await held.browser.close()
    await held.app[Symbol.asyncDispose]()
    await held.upstream.stop()
  })

  /** A page on which a call listens. */
  async function call() {
    const { browser, app, session } = held
    const guest = await visit(browser, app.url, { language: 'en' }, session)
    const { page } = guest
    const microphone = await giveMicrophone(page)
    // A browser without a screen refuses to keep one on.
    await page.addInitScript(() => {
      const lock = {
        released: false,
        release: async () => Object.assign(lock, { released: true }),
      }
      const request = async () => Object.assign(globalThis, { lock }).lock
      Object.assign(navigator.wakeLock, { request })
    })
    await page.goto('/app')
    await button(page, 'call.begin').click()
    await state(page, 'call.listening')
    return { guest, page, microphone, [Symbol.asyncDispose]: () => guest.context.close() }
  }
  /** Whether the screen may go dark; null before it was asked for. */
  const mayDarken = (page: Page) =>
    page.evaluate(() => (globalThis as { lock?: WakeLockSentinel }).lock?.released ?? null)
  const spoken = () =>
    held.upstream.requests.flatMap(({ path, body }) =>
      path === '/audio/speech' ? [body.input] : [],
    )

  test('hears, says the answer by sentence, and goes silent when spoken to', async () => {
    const { upstream } = held
    await using one = await call()
    const { page, microphone } = one
    await field(page).waitFor({ state: 'hidden' })
    expect(await seriousFindings(page)).toEqual([])

    await button(page, 'call.mute').click()
    await state(page, 'call.muted')
    await microphone.speaks(true)
    expect(await microphone.isOn()).toBe(false)
    await state(page, 'call.muted')
    await microphone.speaks(false)
    await button(page, 'call.mute').click()
    await state(page, 'call.listening')
    expect(await mayDarken(page)).toBe(false)

    upstream.transcriptions.reply({ text: 'How is the weather?' })
    upstream.reply({ text: 'It is **sunny**. And warm.\n```js\nconst a = 1\n```\n' })
    upstream.speech.reply({ ms: 60_000 })
    upstream.speech.reply({ ms: 60_000 })
    await microphone.speaks(true)
    await state(page, 'call.hearing')
    await microphone.speaks(false)
    await page.locator('.bubble', { hasText: 'How is the weather?' }).waitFor()
    await state(page, 'call.speaking')
    await soon(async () => spoken(), ['It is sunny.', 'And warm.'])

    await button(page, 'call.mute').click()
    await state(page, 'call.muted')
    await button(page, 'call.mute').click()
    await state(page, 'call.speaking')
    // A minute of speech is under way: a person who speaks is heard at once, and asks the next.
    upstream.transcriptions.reply({ text: 'And tomorrow?' })
    upstream.reply({ text: 'Rain.' })
    upstream.speech.reply({ ms: 100 })
    await microphone.speaks(true)
    await state(page, 'call.hearing')
    await microphone.speaks(false)
    await page.locator('.bubble', { hasText: 'And tomorrow?' }).waitFor()
    await soon(async () => spoken().at(-1), 'Rain.')
    await state(page, 'call.listening')

    await page.keyboard.press('Escape')
    await microphone.released()
    expect(await mayDarken(page)).toBe(true)
    await field(page).waitFor()
    await soon(() => field(page).evaluate((at) => at === document.activeElement), true)
    expect(one.guest.complaints).toEqual([])
  }, 90_000)

  test('tells what is wrong and what to do, and lets go of the microphone', async () => {
    const { upstream } = held
    await using one = await call()
    const { page, microphone } = one
    const alert = (text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor()

    upstream.transcriptions.reply({ text: ' ' })
    await microphone.speaks(true)
    await state(page, 'call.hearing')
    await microphone.speaks(false)
    await alert(en['call.nothing'])
    await state(page, 'call.listening')

    await microphone.unplug()
    await alert(en['call.lost'])
    await microphone.released()
    await button(page, 'action.close').click()

    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('no', 'NotAllowedError'))
    })
    await button(page, 'call.begin').click()
    await alert(en['studio.voice.refused'])
    await button(page, 'action.close').click()

    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('no', 'NotReadableError'))
    })
    await button(page, 'call.begin').click()
    await alert(en['studio.voice.busy'])
    await button(page, 'action.close').click()

    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = async () => new MediaStream()
      AudioWorklet.prototype.addModule = () => Promise.reject(new DOMException('no', 'AbortError'))
    })
    await button(page, 'call.begin').click()
    await alert(en['call.unloaded'])
    await button(page, 'action.close').click()
    await field(page).waitFor()
  }, 60_000)

  test('asks a recorded question, also of a microphone that was taken away', async () => {
    const { upstream, browser, app, session } = held
    await using guest = await visit(browser, app.url, { language: 'en' }, session)
    const { page } = guest
    const microphone = await giveMicrophone(page)
    await page.goto('/app')
    await button(page, 'studio.voice').click()
    const finish = button(page, 'studio.voice.stop')
    await finish.waitFor()
    await microphone.speaks(true)
    await microphone.unplug()
    // Its meter is closed by the end of the recording.
    await microphone.released()
    upstream.transcriptions.reply({ text: 'Is it still on?' })
    upstream.reply({ text: 'No.' })
    await page.route('**/console/tts', () => {})
    const spoken = page.waitForRequest('**/console/tts')
    await finish.click()
    await page.locator('.bubble', { hasText: 'Is it still on?' }).waitFor()

    // What is not spoken yet would be heard in the next question.
    const silenced = page.waitForEvent('requestfailed', await spoken.then(isSame))
    await button(page, 'studio.voice').click()
    await silenced
    await finish.waitFor()
    expect(guest.complaints).toEqual([])
  }, 60_000)

  test('ends when the page is left, and the model with it', async () => {
    const { upstream } = held
    await using one = await call()
    const { page, microphone } = one
    upstream.transcriptions.reply({ text: 'A long story, please' })
    upstream.reply({
      pieces: ['Once upon a time. ', 'The end.'],
      hold: { after: 1, until: new Promise(() => {}) },
    })
    await microphone.speaks(true)
    await state(page, 'call.hearing')
    await microphone.speaks(false)
    await button(page, 'call.interrupt').waitFor()
    await goTo(page, 'nav.usage')
    await microphone.released()
    await soon(async () => upstream.aborts() > 0, true)
    expect(one.guest.complaints).toEqual([])
  }, 60_000)
})
