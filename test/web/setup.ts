import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { buildWeb } from '../../scripts/build-web.ts'
import { type AppOptions, startApp, type TestApp } from '../support/app.ts'
import { findChromium, launch } from '../support/chromium.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'

/** Tests with a browser need one on the machine; the console's own logic is tested without. */
export const describeWeb = findChromium() ? describe : describe.skip

if (!findChromium()) {
  process.stderr.write('no Chromium here: tests of the console in a browser are left out\n')
}

/** Time for the first build of the console and a browser, on a machine that has other work. */
export const BUILD_MS = 60_000

export const buildConsole = () => buildWeb(join(import.meta.dir, '../../dist/web'))

/**
 * The executable in $MOONBASE_BIN, which has to carry the console by itself, or the same parts in
 * this process.
 */
export async function startProduct() {
  if (!process.env.MOONBASE_BIN) return startApp()
  const folder = tempFolder()
  const server = await startServer({ dataDir: folder.path })
  return {
    url: server.url,
    printed: server.printed,
    async [Symbol.asyncDispose]() {
      await server.stop()
      folder[Symbol.dispose]()
    },
  }
}

const SOON_MS = 20_000

/** Reads what a page shows until it is what was expected; a page changes when it likes. */
export async function soon<T>(read: () => Promise<T>, expected: T): Promise<void> {
  const end = performance.now() + SOON_MS
  let shown: unknown = await read()
  while (!Bun.deepEquals(shown, expected) && performance.now() < end) {
    await Bun.sleep(25)
    shown = await read()
  }
  expect(shown).toEqual(expected)
}

/** One server and one browser for the tests of a file. */
export function useConsole(options: AppOptions = {}) {
  const held: { app?: TestApp; browser?: Browser } = {}
  beforeAll(async () => {
    await buildConsole()
    held.app = await startApp(options)
    held.browser = await launch()
  }, BUILD_MS)
  afterAll(async () => {
    await held.browser?.close()
    await held.app?.[Symbol.asyncDispose]()
  })
  return {
    get app(): TestApp {
      if (!held.app) throw new Error('the server is not running yet')
      return held.app
    },
    get browser(): Browser {
      if (!held.browser) throw new Error('the browser is not running yet')
      return held.browser
    },
  }
}
