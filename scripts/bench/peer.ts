import { delimiter, join } from 'node:path'
import { loadStreams } from './load-sse.ts'
import peerPackage from './peer/package.json'
import { type Program, startProgram, type Upstream } from './programs.ts'
import type { Row } from './report.ts'

const FOLDER = join(import.meta.dir, 'peer')
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
 * The Portkey gateway, which relays chat completions and neither holds keys nor stores anything.
 * Brought from npm on first use, into a folder of its own. Null, and a line that says why, where it
 * cannot be installed or does not relay a stream.
 */
export async function preparePeer(upstream: Upstream): Promise<StartPeer | null> {
  try {
    install()
    const node = findNode()
    const start = () => startGateway(node, upstream)
    await upstream.plan({ tokens: TRIAL_TOKENS, delayMs: 0 })
    await using program = await start()
    await loadStreams(program.turns, { streams: 1, requests: 1, tokens: TRIAL_TOKENS })
    return start
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    process.stderr.write(`the peer gateway is left out: ${why.trim()}\n`)
    return null
  }
}

const startGateway = (node: string, upstream: Upstream): Promise<Program> =>
  startProgram({
    command: [node, join(FOLDER, 'gateway.mjs')],
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
  const { success, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: FOLDER })
  if (!success) throw new Error(`it could not be installed from npm\n${stderr}`)
}

/** `bun run` puts a `node` before all others that is Bun itself; the gateway needs the real one. */
function findNode(): string {
  const found = (process.env.PATH ?? '').split(delimiter).find((folder) => {
    const node = Bun.which('node', { PATH: folder })
    if (node === null) return false
    const { stdout, success } = Bun.spawnSync([node, '-p', 'process.versions.bun'])
    return success && stdout.toString().trim() === 'undefined'
  })
  if (found === undefined) throw new Error('it needs Node.js')
  return join(found, 'node')
}
