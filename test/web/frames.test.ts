import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Locator } from 'playwright-core'
import { en } from '../../web/i18n/en.ts'
import { startApp } from '../support/app.ts'
import { findBrowser } from '../support/chromium.ts'
import { pageOf, point, WAYS } from '../support/frame-ways.ts'
import { signIn } from '../support/login.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'
import { buildConsole, describeWeb, soon } from './setup.ts'
import { ask, ended } from './studio-page.ts'

const hostOf = (at: number, kind: string) => `w${at}.${kind}.recorder.test`

/** Ways in one answer. */
const ASKED = 18

/** Resolves once one of both is there; a wait that lost would go on looking for its time. */
async function either(...places: readonly Locator[]): Promise<void> {
  const isThere = (place: Locator) => place.count().then(Boolean, () => false)
  while (!(await Promise.all(places.map(isThere))).includes(true)) await Bun.sleep(25)
}

/** Hosts of the recorder that the browser asked for or looked up, by its log of the net. */
const hostsIn = (log: string) => new Set(log.match(/w\d+\.(?:open|framed)\.recorder\.test/g))

describeWeb('a frame', () => {
  test('no way leads out of a frame, and the recorder sees those out of a page', async () => {
    await buildConsole()
    using folder = tempFolder()
    const seen = new Set<string>()
    const pages = new Map(WAYS.map((way, at) => [`/${at}`, pageOf(way, hostOf(at, 'open'))]))
    await using recorder = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url)
        const host = request.headers.get('host') ?? ''
        if (host !== 'pages.recorder.test') seen.add(host)
        const body = host === 'pages.recorder.test' ? pages.get(pathname) : ''
        return new Response(body ?? '', { headers: { 'content-type': 'text/html' } })
      },
    })
    const upstream = await startUpstream()
    await using app = await startApp({
      env: { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' },
    })
    const log = join(folder.path, 'net.json')
    // Debian's Chromium follows no hints about hosts unless it is told to.
    const preferences = { net: { network_prediction_options: 0 } }
    mkdirSync(join(folder.path, 'Default'))
    writeFileSync(join(folder.path, 'Default/Preferences'), JSON.stringify(preferences))
    const context = await chromium.launchPersistentContext(folder.path, {
      executablePath: findBrowser() ?? '',
      args: [
        '--no-sandbox',
        '--disable-dev-shm-usage',
        `--host-resolver-rules=MAP *.recorder.test 127.0.0.1:${recorder.port}`,
        `--log-net-log=${log}`,
      ],
      // It turns such hints off, too.
      ignoreDefaultArgs: ['--disable-background-networking'],
      baseURL: app.url,
      locale: 'en-GB',
    })
    const [name = '', value = ''] = (await signIn(app)).headers.cookie.split('=')
    await context.addCookies([{ name, value, url: app.url, httpOnly: true }])
    const page = await context.newPage()
    // A click costs twice as much on a page of all blocks as on one of a few.
    for (let first = 0; first < WAYS.length; first += ASKED) {
      await page.goto('/app')
      const asked = [...WAYS.entries()].slice(first, first + ASKED)
      const blocks = asked.map(
        ([at, way]) => `\`\`\`html\n${pageOf(way, hostOf(at, 'framed'))}\n\`\`\`\n\n`,
      )
      // In one piece, because the page shows the answer anew at each.
      upstream.reply({ text: blocks.join('') })
      await ended(await ask(page, `Show me ${first}`))
      // Each is code until what shows it is loaded: before all are, a number names another one.
      await soon(() => page.locator('.artifact').count(), asked.length)
      for (const [at, way] of asked) {
        const block = page.locator('.artifact').nth(at - first)
        await block.getByRole('button', { name: en['draw.run'] }).click()
        const end = block.locator('.artifact-line')
        await either(end, block.frameLocator('iframe').locator('#tried'))
        await point(block.frameLocator('iframe').locator('#a'), way).catch(() => {})
        if (at % 4 === 3) continue
        // One that has left its page ends by itself, at any time; then its end is clicked.
        await block.getByRole('button', { name: en['draw.stop'] }).or(end).first().click()
      }
    }
    const ways = WAYS.entries()
    const lanes = Array.from({ length: 4 }, async () => {
      const tab = await context.newPage()
      for (const [at, way] of ways) {
        await tab.goto(`http://pages.recorder.test/${at}`, { waitUntil: 'load' }).catch(() => {})
        await tab.waitForLoadState('networkidle').catch(() => {})
        await point(tab.locator('#a'), way).catch(() => {})
      }
      await tab.close()
    })
    await Promise.all(lanes)
    await context.close()
    await upstream.stop()
    const named = hostsIn(readFileSync(log, 'utf8'))

    const report = WAYS.map(({ name }, at) => ({
      name,
      open: named.has(hostOf(at, 'open')),
      framed: named.has(hostOf(at, 'framed')) || seen.has(hostOf(at, 'framed')),
    }))
    if (process.env.SHOW_WAYS) process.stderr.write(Bun.inspect.table(report))
    expect(report.filter(({ framed }) => framed)).toEqual([])
    // The recorder is none that misses what leaves.
    expect(report.filter(({ open }) => open).length).toBeGreaterThan(40)
  }, 480_000)
})
