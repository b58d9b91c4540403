import { endlessFragment, endlessSizes } from '../../test/support/hostile-recordings.ts'
import { createKey } from '../../test/support/key.ts'
import { startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import { frame, startWyoming } from '../../test/support/upstream-wyoming.ts'
import { requestBytes } from './connection.ts'
import { residentKb } from './process-usage.ts'
import type { Product, Upstream } from './programs.ts'
import type { Row } from './report.ts'

/** A server under hostile work, and the tenant that sends it. */
interface Target {
  readonly url: string
  readonly pid: number
  readonly upstream: string
  post(path: string, body: unknown): Promise<Response>
  hear(recording: Uint8Array): Promise<Response>
}

interface Wall {
  readonly name: string
  /** The path of this wall's model below the stub upstream. */
  readonly model?: string
  readonly prepare?: (target: Target) => Promise<unknown>
  readonly attack: (target: Target) => Promise<unknown>
}

const GAP_MS_MAX = 50
/** Two parse processes of 512 MB each, which is their limit, and the server. */
const MEMORY_MB_MAX = 1_300
const times = <Result>(count: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const drained = async (answer: Promise<Response>) => void (await (await answer).arrayBuffer())

const BLANKS = ` \t\v\f`.repeat(24_000)
const VOCABULARY_WORDS = 12_000
const words = (from: number) =>
  Array.from({ length: VOCABULARY_WORDS }, (_, index) => `q${(from + index).toString(36)}x`)
    .join(' ')
    .slice(0, 100_000)
const IMAGES = ['A', 'B', 'C'].map((sign) => `data:image/png;base64,${sign.repeat(13_300_000)}`)
const PERSONAS = Array.from({ length: 1_000 }, (_, index) => ({
  name: `persona ${index}`,
  prompt: 'p'.repeat(8_000),
  is_default: false,
}))

/** Requests an answer and reads nothing of it for a while. */
async function readNothing({ url }: Target, path: string, headers: Record<string, string>) {
  const { hostname, port } = new URL(url)
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } })
  socket.pause()
  socket.write(requestBytes({ method: 'GET', url: `${url}${path}`, headers, body: '' }))
  await Bun.sleep(3_000)
  socket.terminate()
}

const WALLS = (headers: Record<string, string>): readonly Wall[] => [
  { name: 'nothing', attack: () => Bun.sleep(1_000) },
  {
    name: 'four texts of 9,990 characters spoken',
    attack: (to) => times(4, () => drained(to.post('/v1/tts', { text: '说话。'.repeat(3_330) }))),
  },
  {
    name: 'eight recordings of 700 bytes that name four billion samples',
    attack: (to) =>
      times(8, (index) => drained(to.hear(index % 2 ? endlessFragment() : endlessSizes()))),
  },
  {
    name: 'a heading of 96,000 mixed blanks',
    attack: (to) =>
      drained(to.post('/v1/kb/docs', { title: 'blanks', text: `# a${BLANKS}b\n\ntext` })),
  },
  {
    name: 'sixty pages of 200 KB, badly nested, read in one turn',
    model: '/pages',
    attack: (to) => drained(to.post('/v1/agent', { text: 'read', kb: false })),
  },
  {
    name: 'thirty searches for misspelt words among 120,000',
    prepare: (to) =>
      times(10, (index) => {
        const text = words(index * VOCABULARY_WORDS)
        return drained(to.post('/v1/kb/docs', { title: `words ${index}`, text }))
      }),
    attack: (to) =>
      times(30, (index) =>
        drained(to.post('/v1/kb/search', { q: `qz${index}zq qqz7y qyy${index}w` })),
      ),
  },
  {
    name: 'three bodies of 47 MB of escapes',
    attack: (to) =>
      times(3, () => drained(to.post('/v1/agent', { text: 'hi', more: '\\'.repeat(23_500_000) }))),
  },
  {
    name: 'a turn of 40 MB, three images, sent to its model',
    attack: (to) => drained(to.post('/v1/agent', { text: 'look', kb: false, images: IMAGES })),
  },
  {
    name: 'forty exports of 8 MB that nobody reads',
    prepare: (to) =>
      times(9, (part) => {
        const personas = PERSONAS.slice(part * 110, (part + 1) * 110)
        const config = { format_version: 1, exported_at: '', personas, apps: [], settings: {} }
        return drained(to.post('/v1/import', { config }))
      }),
    attack: (to) => times(40, () => readNothing(to, '/v1/export', headers)),
  },
  {
    name: 'ten answers of a few KB that unpack to 256 MB each',
    model: '/packed',
    attack: (to) => times(10, () => drained(to.post('/v1/agent', { text: 'hi', kb: false }))),
  },
]

/** Longest wait at /healthz while `work` runs, measured by a process of its own. */
async function longestGap(url: string, work: () => Promise<unknown>): Promise<number> {
  const probe = Bun.spawn([process.execPath, `${import.meta.dir}/gap-probe.ts`, url], {
    stdin: 'pipe',
    stdout: 'pipe',
  })
  const lines = probe.stdout.pipeThrough(new TextDecoderStream()).getReader()
  await lines.read()
  await work()
  await Bun.sleep(300)
  await probe.stdin.end()
  const { value } = await lines.read()
  return (JSON.parse(value ?? '{}') as { longestMs: number }).longestMs
}

async function measure(upstream: Upstream, name: string) {
  using folder = tempFolder()
  const { model = '' } = WALLS({}).find((wall) => wall.name === name) ?? {}
  await using wyoming = await startWyoming(({ type }, socket) => {
    if (type === 'audio-stop') socket.write(frame('transcript', { text: '' }))
  })
  const env = {
    MB_ASR_BASE_URL: wyoming.baseUrl,
    MB_LLM_BASE_URL: `${upstream.url}${model}/v1`,
    MB_LLM_MODEL: 'fake',
    MB_TTS_BASE_URL: `${upstream.url}/long/v1`,
    MB_ALLOW_PRIVATE_HOSTS: new URL(upstream.url).host,
  }
  const { headers } = await createKey(folder.path, { env })
  const wall = WALLS(headers).find((candidate) => candidate.name === name)
  await using server = await startServer({ dataDir: folder.path, env })
  const target: Target = {
    url: server.url,
    pid: server.pid,
    upstream: upstream.url,
    post: (path, body) =>
      fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
    hear: (recording) =>
      fetch(`${server.url}/v1/asr`, { method: 'POST', headers, body: new Uint8Array(recording) }),
  }
  await wall?.prepare?.(target)
  let peakKb = 0
  const watch = setInterval(() => {
    peakKb = Math.max(peakKb, residentKb(server.pid))
  }, 50)
  const gapMs = await longestGap(server.url, async () => wall?.attack(target))
  clearInterval(watch)
  return { gapMs, peakMb: peakKb / 1024 }
}

/**
 * Measures how one tenant's hostile work affects all others: the longest gap at /healthz and the
 * peak of memory (SECURITY.md, Work and memory).
 */
export async function benchWalls(
  upstream: Upstream,
  _prepared: Product,
  rounds: number,
): Promise<Row[]> {
  await upstream.plan({ tokens: 10, delayMs: 0 })
  const rows: Row[] = []
  for (const { name } of WALLS({})) {
    process.stderr.write(`  beside ${name}\n`)
    const results: { gapMs: number; peakMb: number }[] = []
    for (let round = 0; round < rounds; round++) results.push(await measure(upstream, name))
    const row = (measure: string, unit: string, product: number[], atMost: number): Row => ({
      measure: `${measure}: ${name}`,
      unit,
      product,
      reference: { name: '', values: [] },
      target: { atMost },
      absolute: true,
    })
    rows.push(
      row(
        'longest gap',
        'ms',
        results.map(({ gapMs }) => gapMs),
        GAP_MS_MAX,
      ),
      row(
        'peak memory',
        'MB',
        results.map(({ peakMb }) => peakMb),
        MEMORY_MB_MAX,
      ),
    )
  }
  return rows
}
