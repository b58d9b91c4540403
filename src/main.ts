import { parseArgs } from 'node:util'
import { version } from '../package.json'
import { EMBED_COMMAND } from './commands/embedding.ts'
import { liftFetchLimit } from './commands/fetch-limit.ts'
import { help } from './commands/help.ts'
import { createKey } from './commands/key.ts'
import { programAt } from './commands/program.ts'
import { serve } from './commands/serve.ts'
import { ConfigError, loadConfig } from './config.ts'
import { prepareRuntime } from './native/runtime.ts'

/** A command that was mistyped; told with the way to the help text. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

const self = [process.execPath, ...(Bun.main.startsWith('/$bunfs/') ? [] : [Bun.main])]
const program = programAt(import.meta.url, self)
const write = (text: string) => void process.stdout.write(text)

async function runServe(): Promise<void> {
  const config = loadConfig(process.env)
  // Before this process is replaced, because copying leaves it with 60 MB it needs no more.
  await prepareRuntime(config.MB_DATA_DIR)
  liftFetchLimit(process.env)
  const terminal = process.stdout.isTTY === true
  await serve({ config, env: process.env, version, program, terminal, write })
}

/** Loaded only here, because it brings ONNX Runtime in. */
async function runEmbed(modelDir: string): Promise<void> {
  const { runEmbedWorker } = await import('./channels/onnx/worker.ts')
  await runEmbedWorker(modelDir, process)
}

async function runKey(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args, {
    email: { type: 'string' },
    'rate-limit': { type: 'string' },
    json: { type: 'boolean' },
  })
  if (positionals.join(' ') !== 'create') throw new UsageError('usage: moonbase key create')
  const limit = values['rate-limit']
  if (typeof limit === 'string' && !/^\d{1,9}$/.test(limit)) {
    throw new UsageError('--rate-limit is requests a minute, a whole number; 0 is unlimited')
  }
  const email = typeof values.email === 'string' ? values.email.trim() : undefined
  if (email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new UsageError('--email must be an e-mail address')
  }
  await createKey({
    config: loadConfig(process.env),
    writerUrl: program.writerUrl,
    email,
    rateLimit: typeof limit === 'string' ? Number(limit) : undefined,
    json: values.json === true,
    write,
  })
}

type ArgOptions = NonNullable<Parameters<typeof parseArgs>[0]>['options']

function parse(args: readonly string[], options: NonNullable<ArgOptions>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'wrong arguments')
  }
}

async function main([command = 'serve', ...rest]: readonly string[]): Promise<void> {
  if (['--help', '-h', 'help'].includes(command) || rest.includes('--help')) return write(help())
  if (['--version', '-v', 'version'].includes(command)) return write(`moonbase ${version}\n`)
  if (command === 'serve') return runServe()
  if (command === 'key') return runKey(rest)
  if (command === EMBED_COMMAND) return runEmbed(rest[0] ?? '')
  throw new UsageError(`there is no command ${JSON.stringify(command)}; see moonbase --help`)
}

/** One sentence for what an operator can mend, and the whole error for what they cannot. */
function tell(error: unknown): void {
  const known = error instanceof ConfigError || error instanceof UsageError
  const text = known ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`moonbase: ${text}\n`)
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    tell(error)
    process.exit(1)
  },
)
