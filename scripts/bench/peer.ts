import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadStreams } from './load-sse.ts'
import peerPackage from './peer/package.json'
import { type Program, startProgram, type Upstream } from './programs.ts'
import type { Row } from './report.ts'

const GATEWAY = fileURLToPath(new URL('./peer/gateway.mjs', import.meta.url))
const VERSION = peerPackage.dependencies['@portkey-ai/gateway']
const TRIAL_TOKENS = 3

/** What the references send to the upstream for a first turn. */
const BODY = JSON.stringify({
  model: 'fake',
  stream: true,
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'hello' },
  ],
})

/** The peer's name in the table. */
export const PEER = `portkey ${VERSION}`

export type StartPeer = () => Promise<Program>

/** The same measure with the peer as its reference; no row where the peer was left out. */
export const besidePeer = (
  { measure, unit, product }: Row,
  values: readonly number[],
  target: Row['target'] = null,
): Row[] =>
  values.length === 0 ? [] : [{ measure, unit, product, reference: { name: PEER, values }, target }]

/**
 * A measure of the peer that costs no other its result: where the peer does not bear the load, the
 * round has `gap` in its place and a line says why.
 */
export const tried =
  <Result>(measure: () => Promise<Result>, gap: Result) =>
  (): Promise<Result> =>
    measure().catch((error) => {
      tell('a measure of the peer gateway failed', error)
      return gap
    })

function tell(what: string, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${what}: ${why.trim()}\n`)
}

/**
 * The Portkey gateway, which relays chat completions and neither holds keys nor stores anything.
 * Brought from npm on first use, into a folder of its own. Null, and a line that says why, where it
 * cannot be installed or does not relay a stream.
 */
export async function preparePeer(upstream: Upstream): Promise<StartPeer | null> {
  try {
    install()
    const node = findNode(process.env.PATH ?? '')
    const start = () => startGateway(node, upstream)
    await upstream.plan({ tokens: TRIAL_TOKENS, delayMs: 0 })
    await using program = await start()
    await loadStreams(program.turns, { streams: 1, requests: 1, tokens: TRIAL_TOKENS })
    return start
  } catch (error) {
    tell('the peer gateway is left out', error)
    return null
  }
}

const startGateway = (node: string, upstream: Upstream): Promise<Program> =>
  startProgram({
    command: [node, GATEWAY],
    env: { NODE_ENV: 'production' },
    readyPath: '/',
    target: ({ url }) => ({
      url: `${url}/v1/chat/completions`,
      headers: {
        authorization: 'Bearer none',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${upstream.url}/v1`,
      },
      format: 'openai',
      body: () => BODY,
    }),
  })

/** What is installed already is found so within milliseconds, without the network. */
function install(): void {
  const args = ['install', '--frozen-lockfile', '--ignore-scripts', '--silent']
  const { success, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: dirname(GATEWAY) })
  if (!success) throw new Error(`it could not be installed from npm\n${stderr}`)
}

/**
 * Path of the first Node.js in a list of folders. `bun run` puts a `node` before all others that is
 * Bun itself, and the gateway needs the real one.
 */
export function findNode(path: string): string {
  const nodes = path.split(delimiter).map((folder) => Bun.which('node', { PATH: folder }))
  const found = nodes.find((node) => {
    if (node === null) return false
    const { stdout, success } = Bun.spawnSync([node, '-p', 'process.versions.bun'])
    return success && stdout.toString().trim() === 'undefined'
  })
  if (!found) throw new Error('it needs Node.js')
  return found
}
