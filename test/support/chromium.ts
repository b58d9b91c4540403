import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { SignedIn } from './login.ts'

const PLACES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** The engine without a browser around it, which starts and opens pages for half the work. */
const SHELL = 'chromium-headless-shell'

const first = (names: readonly string[]): string | null =>
  process.env.CHROMIUM_BIN ?? names.map((name) => Bun.which(name)).find(Boolean) ?? null

/** What draws pages; null without one, and browser tests are skipped. */
export const findChromium = (): string | null => first([SHELL, ...PLACES])

/** The same with a whole browser around it, where there is one, and what it does by itself. */
export const findBrowser = (): string | null => first([...PLACES, SHELL])

export async function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('no Chromium found; set CHROMIUM_BIN or install one')
  return chromium.launch({
    executablePath,
    args: [
      // As a whole browser does by itself: a frame that never answers leaves its page alone.
      '--site-per-process',
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
    ],
  })
}

export interface Look {
  readonly language: 'zh' | 'en'
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /**
   * Whether the console keeps itself for the time that its server is away. Else no request passes
   * through a worker, where a test would not see it.
   */
  readonly keeps?: boolean
}

export interface Visit extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors the browser reported: script errors and policy violations. */
  readonly complaints: readonly string[]
}

/** Opens a new browser context, with its own cookies, on the server at `url`. */
export async function visit(
  browser: Browser,
  url: string,
  { language, theme = 'light', width = 1280, height = 860, keeps = false }: Look,
  session?: SignedIn,
): Promise<Visit> {
  const context = await browser.newContext({
    baseURL: url,
    locale: language === 'zh' ? 'zh-CN' : 'en-GB',
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: 'reduce',
    serviceWorkers: keeps ? 'allow' : 'block',
    permissions: ['clipboard-read', 'clipboard-write', 'microphone'],
  })
  if (session) {
    const [name = '', value = ''] = session.headers.cookie.split('=')
    await context.addCookies([{ name, value, url, httpOnly: true }])
  }
  await slowDown(context)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The page itself shows a failed request; the browser's log line is ignored.
    const failed = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !failed) complaints.push(message.text())
  })
  return { page, context, complaints, [Symbol.asyncDispose]: () => context.close() }
}

/**
 * A test may not depend on how fast a page is. `SLOW_PAGES=600 bun test test/web` delays each
 * request by up to 600 ms, at random; `SLOW_PAGES=10x` gives scripts a tenth of the processor.
 */
async function slowDown(context: BrowserContext): Promise<void> {
  const { SLOW_PAGES: slow } = process.env
  if (!slow) return
  const most = Number.parseInt(slow, 10)
  if (slow.endsWith('x')) {
    context.on('page', async (page) => {
      const client = await context.newCDPSession(page)
      await client.send('Emulation.setCPUThrottlingRate', { rate: most })
    })
  } else {
    await context.route('**/*', async (route) => {
      await Bun.sleep(Math.random() * most)
      await route.continue().catch(() => {})
    })
  }
}
