import { expect, test } from 'bun:test'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { createLogger } from '../../src/core/log.ts'
import { openPostgres } from '../../src/storage/postgres/db.ts'
import { createNotifier } from '../../src/storage/postgres/notifier.ts'
import { startLine } from '../support/cut.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'

test.skipIf(!hasPostgres())(
  'a lost connection is taken up again, and nothing waits for the lost one',
  async () => {
    await using server = await startPostgres('none')
    const system = systemClock()
    const sleeping: number[] = []
    let listened = 0
    const clock: Clock = {
      ...system,
      async sleep(ms, signal) {
        sleeping.push(ms)
        if (ms === 15_000) listened += 1
        try {
          await system.sleep(ms === 1_000 ? 1 : ms, signal)
        } finally {
          sleeping.splice(sleeping.indexOf(ms), 1)
        }
      },
    }
    await using line = await startLine(Number(new URL(server.url).port))
    const url = new URL(server.url)
    url.port = String(line.port)
    const db = openPostgres({ url: server.url, clock })
    const log = createLogger({ level: 'error', json: true, now: () => new Date(), write() {} })
    const notifier = createNotifier({ db, url: url.href, clock, log })
    for (let tries = 1; tries <= 3; tries++) {
      while (listened < tries) await Bun.sleep(5)
      expect(sleeping).toEqual([15_000])
      line.drop()
    }
    const woken = Promise.withResolvers<void>()
    notifier.on('word', woken.resolve)
    notifier.notify('word')
    await woken.promise
    await notifier.close()
    expect(sleeping).toEqual([])
    await db.close()
  },
)
