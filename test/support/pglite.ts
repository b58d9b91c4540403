/**
 * A process that serves PostgreSQL as WebAssembly to the tests of machines without a server of
 * their own: `bun pglite.ts PORT`, until standard input ends. It has one session, which connections
 * take in turn, each until its transaction is over; what a client calls a database is a schema.
 */
import { createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { createSemaphore } from '../../src/core/semaphore.ts'

const SSL_REQUEST = 80_877_103
const CANCEL_REQUEST = 80_877_102
/** Messages that the server answers at once: Sync and Query. Terminate ends the connection. */
const ENDS_UNIT = new Set(['S', 'Q'])
const TERMINATE = 'X'

const db = await PGlite.create({ extensions: { vector } })
await db.exec('CREATE EXTENSION vector')
const session = createSemaphore({ slots: 1 })
let current = ''

async function enter(schema: string): Promise<void> {
  if (schema === current) return
  await db.exec(`CREATE SCHEMA IF NOT EXISTS "${schema}"; SET search_path TO "${schema}", public`)
  current = schema
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 0)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const status = (name: string, value: string) => message('S', Buffer.from(`${name}\0${value}\0`))
const WELCOME = Buffer.concat([
  message('R', Buffer.alloc(4)),
  status('client_encoding', 'UTF8'),
  status('standard_conforming_strings', 'on'),
  message('K', Buffer.alloc(8)),
  message('Z', Buffer.from('I')),
])

/** Splits what comes of a connection into messages. */
function createFrames() {
  let rest: Buffer = Buffer.alloc(0)
  return function* (data: Buffer, headless: () => boolean) {
    rest = Buffer.concat([rest, data])
    for (;;) {
      const start = headless() ? 0 : 1
      if (rest.length < start + 4) return
      const end = start + rest.readInt32BE(start)
      if (rest.length < end) return
      const frame = rest.subarray(0, end)
      rest = rest.subarray(end)
      yield frame
    }
  }
}

function serve(socket: Socket): void {
  const frames = createFrames()
  let schema: string | null = null
  let unit: Buffer[] = []
  let release: (() => void) | null = null
  let work: Promise<void> = Promise.resolve()

  function greet(frame: Buffer): void {
    const code = frame.readInt32BE(4)
    if (code === SSL_REQUEST) return void socket.write('N')
    if (code === CANCEL_REQUEST) return void socket.end()
    const words = frame.toString('utf8', 8).split('\0')
    schema = words[words.indexOf('database') + 1] ?? ''
    socket.write(WELCOME)
  }

  async function run(sent: Buffer): Promise<void> {
    release ??= await session.acquire('')
    await enter(schema ?? '')
    const answer = Buffer.from(await db.execProtocolRaw(sent))
    socket.write(answer)
    // The last byte of ReadyForQuery: I outside of a transaction.
    if (answer.at(-1) === 'I'.charCodeAt(0)) leave()
  }

  function leave(): void {
    release?.()
    release = null
  }

  socket.on('data', (data: Buffer) => {
    for (const frame of frames(data, () => schema === null)) {
      const type = String.fromCharCode(frame[0] ?? 0)
      if (schema === null) greet(frame)
      else if (type === TERMINATE) socket.end()
      else unit.push(frame)
      if (schema === null || !ENDS_UNIT.has(type)) continue
      const sent = Buffer.concat(unit)
      unit = []
      work = work.then(() => run(sent))
    }
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    work = work.then(async () => {
      if (release) await db.exec('ROLLBACK')
      leave()
    })
  })
}

createServer(serve).listen(Number(process.argv[2]), '127.0.0.1')
for await (const _ of Bun.stdin.stream());
process.exit(0)
