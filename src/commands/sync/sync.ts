import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock } from '../../core/clock.ts'
import { OperatorError } from '../../data-folder/operator-error.ts'
import { type Invocation, parseArguments, UsageError } from '../arguments.ts'
import { printable } from '../output.ts'
import { type Client, createClient, isMissing } from './client.ts'
import { type Counts, type Round, runRound } from './round.ts'

const USAGE =
  'usage: moonbase sync FOLDER --to URL [--prefix P] [--collection NAME] [--include GLOB] ' +
  '[--delete] [--watch] [--dry-run]'

/** How often a watched folder is looked at. */
const WATCH_MS = 2_000
const NONE = 'none'

/** `moonbase sync`: keeps the knowledge base of a server as a folder is. */
export async function runSync({ args, env, write }: Invocation): Promise<void> {
  const options = readOptions(args)
  const { MOONBASE_KEY } = env
  const key = MOONBASE_KEY?.trim()
  if (!key) throw new UsageError('set MOONBASE_KEY to a key of the server (sk-mb-…)')
  const folder = resolve(options.folder)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(`there is no folder ${folder}`)
  }
  const sleep = (ms: number) => systemClock().sleep(ms)
  const client = createClient({ server: options.server, key, sleep })
  const round: Round = {
    ...options,
    client,
    folder,
    collection: await collectionOf(client, options.collection),
    hashes: new Map(),
    sleep,
    say: (line) => write(`${line}\n`),
    fail: (line) => void process.stderr.write(printable(`${line}\n`)),
  }
  const counts = await runRound(round)
  write(`${summary(counts, options.isDry)}\n`)
  if (options.watches) await watch(round, write)
  if (counts.failed > 0) throw new OperatorError(`${counts.failed} failed`)
}

/** Runs until the process is ended. */
async function watch(round: Round, write: (text: string) => void): Promise<never> {
  for (;;) {
    await round.sleep(WATCH_MS)
    try {
      const counts = await runRound(round)
      if (counts.sent + counts.removed > 0) write(`${summary(counts, round.isDry)}\n`)
    } catch (error) {
      round.fail(error instanceof Error ? error.message : String(error))
    }
  }
}

const summary = ({ sent, same, removed, failed }: Counts, isDry: boolean) =>
  `${isDry ? 'would be: ' : ''}${sent} sent, ${same} unchanged, ` +
  `${removed} deleted, ${failed} failed`

/**
 * The collection by its name or id. Without one: that of a key that sees one alone, else none.
 * Throws for an unknown one, and where several are possible.
 */
async function collectionOf(client: Client, wanted: string | undefined): Promise<string> {
  const seen = await client.collections().catch((error: unknown) => {
    throw new OperatorError(error instanceof Error ? error.message : String(error))
  })
  if (wanted !== undefined) {
    const found = seen.find(({ name }) => name === wanted) ?? seen.find(({ id }) => id === wanted)
    if (found) return found.id
    if (wanted === NONE) return NONE
    throw new OperatorError(`there is no collection ${JSON.stringify(wanted)}`)
  }
  try {
    await client.sources(NONE, 'x')
    return NONE
  } catch (error) {
    // The key of an assistant that does not see documents without a collection gets 404.
    if (!isMissing(error)) {
      throw new OperatorError(error instanceof Error ? error.message : String(error))
    }
    const [only, ...more] = seen
    if (only && more.length === 0) return only.id
    throw new OperatorError('name one collection of this key: --collection NAME')
  }
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArguments(args, {
    to: { type: 'string' },
    prefix: { type: 'string' },
    collection: { type: 'string' },
    include: { type: 'string', multiple: true },
    delete: { type: 'boolean' },
    watch: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
  })
  const { to, prefix, collection, include, watch } = values
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0 || typeof to !== 'string') throw new UsageError(USAGE)
  const server = URL.parse(to)
  if (!server || !['http:', 'https:'].includes(server.protocol)) {
    throw new UsageError('--to takes the address of a server, such as https://moonbase.example.com')
  }
  return {
    folder,
    server: `${server.origin}${server.pathname}`.replace(/\/+$/, ''),
    prefix: typeof prefix === 'string' ? prefix : '',
    collection: typeof collection === 'string' ? collection : undefined,
    include: Array.isArray(include) ? include.map(String) : [],
    removes: values.delete === true,
    watches: watch === true,
    isDry: values['dry-run'] === true,
  }
}
