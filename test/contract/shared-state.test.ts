import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { createLogger } from '../../src/core/log.ts'
import { NotAsExpected, sql } from '../../src/storage/db.ts'
import { createLocalState } from '../../src/storage/local-state.ts'
import { openPostgres, type PostgresDb } from '../../src/storage/postgres/db.ts'
import { openSharedState } from '../../src/storage/postgres/shared-state.ts'
import type { Fence, SharedState } from '../../src/storage/shared-state.ts'
import { hasPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'

const clock = systemClock()
const log = createLogger({
  level: 'info',
  json: true,
  now: () => new Date(),
  write() {},
})

/** Two servers, which are one where it is alone. */
interface Pair {
  readonly a: SharedState
  readonly b: SharedState
  /** Null where there is none. */
  readonly db: PostgresDb | null
  readonly close: () => Promise<void>
}

async function shared(url: string, directUrl: string | null): Promise<Pair> {
  const db = openPostgres({ url, clock })
  const open = () => openSharedState({ db, clock, log, directUrl })
  const [a, b] = await Promise.all([open(), open()])
  const close = async () => {
    await Promise.all([a.close(), b.close()])
    await db.close()
  }
  return { a, b, db, close }
}

function alone(): Pair {
  const a = createLocalState(clock)
  return { a, b: a, db: null, close: a.close }
}

const isServer = hasPostgres()
const kinds = ['one process', ...(isServer ? ['servers that listen', 'servers that ask'] : [])]
test.skipIf(!isServer)('this machine has the PostgreSQL that several servers need', () => {})

describe.each(kinds)('%s', (kind) => {
  let postgres: TestPostgres | null = null
  let pair: Pair
  let a: SharedState
  let b: SharedState
  const never = new AbortController().signal
  const store = async (fence: Fence) => void (await pair.db?.batch(fence))
  /** The same part of both. */
  const both = <Part>(open: (state: SharedState) => Part): readonly [Part, Part] => {
    const part = open(a)
    return [part, a === b ? part : open(b)]
  }

  beforeAll(async () => {
    if (kind === 'one process') pair = alone()
    else {
      postgres = await startPostgres('all')
      pair = await shared(postgres.url, kind === 'servers that listen' ? postgres.url : null)
    }
    ;({ a, b } = pair)
  })
  afterAll(async () => {
    await pair.close()
    await postgres?.[Symbol.asyncDispose]()
  })

  test('a limit counts events of both, and no more than it allows', async () => {
    const [one, other] = both(({ openWindows }) => openWindows('test', 60_000))
    const all = Array.from({ length: 40 }, (_, i) => (i % 2 ? one : other).count('me', 30))
    const counted = (await Promise.all(all)).filter((standing) => standing.counted)
    expect(counted.map(({ used }) => used).sort((x, y) => x - y)).toEqual(
      Array.from({ length: 30 }, (_, i) => i + 1),
    )
    const refused = await other.look('me', 30)
    expect(refused).toMatchObject({ counted: false, used: 30 })
    expect(refused.msLeft).toBeGreaterThan(50_000)
    expect(refused.msLeft).toBeLessThanOrEqual(60_000)
    expect(await one.count('me', 30)).toMatchObject({ counted: false, used: 30 })
    await other.giveBack('me')
    expect(await one.count('me', 30)).toMatchObject({ counted: true, used: 30 })
    expect(await one.count('you', 30)).toMatchObject({ counted: true, used: 1 })
    expect(await a.openWindows('other', 60_000).look('me', 30)).toMatchObject({ used: 0 })
  })

  test('a rate window that has ended starts again', async () => {
    const windows = a.openWindows('short', 1)
    expect(await windows.count('me', 1)).toMatchObject({ counted: true, used: 1 })
    while (!(await windows.count('me', 1)).counted);
    expect(await a.openWindows('short', 1).look('new', 1)).toMatchObject({ used: 0 })
  })

  const life = { ttlMs: 60_000, countMax: 100 }

  test('a code that one issued is taken once by the other', async () => {
    const [one, other] = both(({ openCodes }) => openCodes('test', life))
    await one.put('code', 'value')
    expect(await other.read('code')).toBe('value')
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).take('code')),
    )
    expect(taken.filter((value) => value !== null)).toEqual(['value'])
    expect(await one.read('code')).toBeNull()
    expect(await b.openCodes('other', life).read('code')).toBeNull()
  })

  test('simultaneous tries at a code all count, and a new code starts at none', async () => {
    const [one, other] = both(({ openCodes }) => openCodes('tried', life))
    await one.put('tried', 'first')
    const tries = await Promise.all(
      Array.from({ length: 12 }, (_, i) => (i % 2 ? one : other).attempt('tried', 5)),
    )
    expect(tries.filter((value) => value === 'first')).toHaveLength(5)
    await other.put('tried', 'second')
    expect(await one.attempt('tried', 5)).toBe('second')
  })

  test('a code expires, and too many codes of an owner displace its own', async () => {
    const short = a.openCodes('short', { ttlMs: 1, countMax: 100 })
    await short.put('brief', 'value')
    while ((await short.read('brief')) !== null);
    expect(await short.take('brief')).toBeNull()
    expect(await short.attempt('brief', 5)).toBeNull()
    const names = ['quiet', 'loud 1', 'loud 2', 'loud 3']
    for (const most of [{ countMax: 3 }, { countMax: 9, perOwnerMax: 2 }]) {
      const few = b.openCodes(`few ${most.countMax}`, { ttlMs: 60_000, ...most })
      for (const name of names) await few.put(name, name, name.slice(0, 4))
      const kept = await Promise.all(names.map((name) => few.read(name)))
      expect(kept).toEqual(['quiet', null, 'loud 2', 'loud 3'])
    }
  })

  /** Resolves when so many turns of the session have their ticket. */
  async function untilTaken(sessionId: string, tickets: number): Promise<void> {
    const rows = sql`SELECT 1 AS one FROM turn_ticket WHERE session_id = ${sessionId}`
    while (pair.db && (await pair.db.all(rows)).length !== tickets);
  }

  test('turns of a session run one after another in their order, wherever they came', async () => {
    const order: number[] = []
    let running = 0
    const first = Promise.withResolvers<void>()
    const turns: Promise<unknown>[] = []
    for (let n = 0; n < 10; n++) {
      const state = n % 2 ? a : b
      turns.push(
        state.turnOrder.run(
          't',
          's',
          async (fence) => {
            expect(++running).toBe(1)
            order.push(n)
            await first.promise
            running--
            await store(fence)
          },
          never,
        ),
      )
      await untilTaken('s', n + 1)
    }
    first.resolve()
    await Promise.all(turns)
    expect(order).toEqual([...order].sort((x, y) => x - y))
    expect(order).toHaveLength(10)
  })

  test('a turn that is given up while it waits lets the next one run', async () => {
    const first = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const running = a.turnOrder.run(
      't',
      'given up',
      async () => {
        begun.resolve()
        await first.promise
      },
      never,
    )
    await begun.promise
    const leaving = new AbortController()
    const waiting = b.turnOrder.run('t', 'given up', async () => 'ran', leaving.signal)
    const next = a.turnOrder.run('t', 'given up', async () => 'ran', never)
    leaving.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
    first.resolve()
    await running
    expect(await next).toBe('ran')
  })

  test('a turn that failed lets the next one run', async () => {
    const failing = async () => {
      throw new Error('failed')
    }
    await expect(a.turnOrder.run('t', 'failing', failing, never)).rejects.toThrow('failed')
    expect(await b.turnOrder.run('t', 'failing', async () => 'ran', never)).toBe('ran')
  })

  test('a lease lets one server work at a time, and any server next', async () => {
    const first = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const held = a.leases.hold('job', never, async () => {
      begun.resolve()
      await first.promise
    })
    await begun.promise
    for (const one of [a, b]) {
      expect(await one.leases.hold('job', never, async () => {})).toBe(false)
      expect(await one.leases.held('jo')).toEqual(['job'])
      expect(await one.leases.heldElsewhere('jo')).toEqual(one === a ? [] : ['job'])
    }
    first.resolve()
    expect(await held).toBe(true)
    expect(await b.leases.hold('job', never, async () => {})).toBe(true)
  })

  if (kind === 'one process') return

  /** Begins a turn on one that is not over before it is told, and makes its ticket a minute old. */
  async function beginTurn(sessionId: string) {
    const end = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const work = async (fence: Fence) => {
      begun.resolve()
      await end.promise
      await store(fence)
      return 'stored'
    }
    const turn = a.turnOrder.run('t', sessionId, work, never)
    await begun.promise
    await pair.db?.run(sql`
      UPDATE turn_ticket SET at = at - interval '1 minute' WHERE session_id = ${sessionId}`)
    return { turn, end: end.resolve }
  }

  test('a server that lives keeps its tickets, however long its turn takes', async () => {
    const { turn, end } = await beginTurn('long')
    const ran: string[] = []
    const next = b.turnOrder.run('t', 'long', async () => ran.push('next'), never)
    await untilTaken('long', 2)
    // A turn that came later on the same server has looked around, so the waiting one has, too.
    await b.turnOrder.run('t', 'short', async () => {}, never)
    expect(ran).toEqual([])
    end()
    expect(await turn).toBe('stored')
    await next
    expect(ran).toEqual(['next'])
  })

  test('the turn of a silent server is not stored, and the next one runs', async () => {
    const { turn, end } = await beginTurn('silent')
    await pair.db?.run(sql`
      UPDATE replica SET seen_at = seen_at - interval '1 minute' WHERE id = (
        SELECT replica FROM turn_ticket WHERE session_id = 'silent')`)
    expect(await b.turnOrder.run('t', 'silent', async () => 'ran', never)).toBe('ran')
    end()
    await expect(turn).rejects.toThrow(NotAsExpected)
  })

  test('the newest of those who seize a name keeps it', async () => {
    const lost = Promise.withResolvers<void>()
    const first = a.leases.seize('socket t/1', lost.resolve)
    while ((await b.leases.heldElsewhere('socket t/')).length === 0);
    const second = b.leases.seize('socket t/1', () => {
      throw new Error('the newest lost it')
    })
    await lost.promise
    await first.release()
    expect(await a.leases.heldElsewhere('socket t/')).toEqual(['socket t/1'])
    await second.release()
    expect(await a.leases.heldElsewhere('socket t/')).toEqual([])
  })

  test('an announcement reaches every other server once', async () => {
    const heard: string[] = []
    const last = Promise.withResolvers<void>()
    b.announcer.on('revoked', async (subject) => {
      heard.push(subject)
      if (subject === 'last') last.resolve()
    })
    a.announcer.on('revoked', async () => {
      throw new Error('it heard itself')
    })
    for (const subject of ['one', 'two', 'last']) await a.announcer.announce('revoked', subject)
    await last.promise
    expect(heard).toEqual(['one', 'two', 'last'])
  })

  test('a file that came to one is fetched by the other', async () => {
    const bytes = new Uint8Array(600_000).map((_, i) => i % 251)
    await a.files.keep('file', bytes)
    const pieces = await b.files.fetch('file')
    expect(Buffer.concat(await Array.fromAsync(pieces ?? [])).equals(bytes)).toBe(true)
    await b.files.remove('file')
    expect(await a.files.fetch('file')).toBeNull()
  })
})
