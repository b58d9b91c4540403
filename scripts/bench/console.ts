import type { Browser } from 'playwright-core'
import { findChromium, launch, visit } from '../../test/support/chromium.ts'
import { type Product, type Program, startReference, type Upstream } from './programs.ts'
import type { Row } from './report.ts'

interface FirstLoad {
  readonly kilobytes: number
  readonly readyMs: number
}

/** A first visit with an empty cache: what crosses the wire, and when a person can act. */
async function load(browser: Browser, url: string, ready: string): Promise<FirstLoad> {
  await using guest = await visit(browser, url, { language: 'zh' })
  const client = await guest.context.newCDPSession(guest.page)
  await client.send('Network.enable')
  let bytes = 0
  client.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  const begin = performance.now()
  await guest.page.goto('/login')
  await guest.page.locator(ready).waitFor()
  const readyMs = performance.now() - begin
  await guest.page.waitForLoadState('networkidle')
  return { kilobytes: bytes / 1024, readyMs }
}

/** First load of the console in a real browser, beside an empty page. None without a Chromium. */
export async function benchConsole(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  if (!findChromium()) {
    process.stderr.write('no Chromium found: the console is not measured\n')
    return []
  }
  await using product: Program = await prepared.start()
  await using bare: Program = await startReference('ok', upstream.url)
  const browser = await launch()
  const results: { product: FirstLoad; bare: FirstLoad }[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      results.push({
        product: await load(browser, product.url, 'input[type=email]'),
        bare: await load(browser, bare.url, 'body'),
      })
    }
  } finally {
    await browser.close()
  }
  const row = (measure: string, unit: string, of: keyof FirstLoad, atMost: number | null): Row => ({
    measure,
    unit,
    product: results.map((result) => result.product[of]),
    reference: { name: 'empty page', values: results.map((result) => result.bare[of]) },
    target: atMost === null ? null : { atMost },
    absolute: true,
  })
  return [
    row('first load, transferred', 'KB', 'kilobytes', 200),
    row('first load, until a person can type', 'ms', 'readyMs', null),
  ]
}
