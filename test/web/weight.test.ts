import { expect, test } from 'bun:test'
import { visit } from '../support/chromium.ts'
import { signIn } from '../support/login.ts'
import { describeWeb, useConsole } from './setup.ts'

/** What a first visit may transfer, as sent over the wire (requirement of the console). */
const FIRST_LOAD_BYTES_MAX = 200 * 1024

describeWeb('the first visit', () => {
  const at = useConsole()

  test.each([
    ['zh', '/login'],
    ['zh', '/app'],
    ['en', '/login'],
    ['en', '/app'],
  ] as const)(
    'the first visit in %p of %p transfers little, all of it from this server',
    async (language, path) => {
      const session = path === '/app' ? await signIn(at.app) : undefined
      await using guest = await visit(at.browser, at.app.url, { language }, session)
      const client = await guest.context.newCDPSession(guest.page)
      await client.send('Network.enable')
      let bytes = 0
      const hosts = new Set<string>()
      client.on('Network.loadingFinished', ({ encodedDataLength }) => {
        bytes += encodedDataLength
      })
      guest.page.on('request', (request) => hosts.add(new URL(request.url()).origin))
      await guest.page.goto(path)
      await guest.page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
      await guest.page.waitForLoadState('networkidle')
      expect(bytes).toBeGreaterThan(10_000)
      expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX)
      expect([...hosts]).toEqual([at.app.url])
    },
    60_000,
  )
})
