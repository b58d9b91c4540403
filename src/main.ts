import { parseArgs } from 'node:util'
import { version } from '../package.json'
import { backup } from './commands/backup.ts'
import { doctor } from './commands/doctor.ts'
import { EMBED_COMMAND } from './commands/embedding.ts'
import { liftFetchLimit } from './commands/fetch-limit.ts'
import { help, helpOf } from './commands/help.ts'
import { createKey } from './commands/key.ts'
import { OperatorError } from './commands/operator-error.ts'
import { programAt } from './commands/program.ts'
import { restore } from './commands/restore.ts'
import { serve } from './commands/serve.ts'
import { ASR_COMMAND } from './commands/voice-pack.ts'
import { ConfigError, loadConfig } from './config.ts'
import { prepareRuntime } from './native/runtime.ts'

/** A command that was mistyped; told with the way to the help text. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

const self = [process.execPath, ...(Bun.main.startsWith('/$bunfs/') ? [] : [Bun.main])]
const program = programAt(import.meta.url, self)
const write = (text: string) => void process.stdout.write(text)

async function runServe(args: readonly string[]): Promise<void> {
  if (parse(args, {}).positionals.length > 0) throw new UsageError('usage: moonbase serve')
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

/** `pack`: a `VoicePack` as JSON. */
async function runAsr(pack: string): Promise<void> {
  const { openSherpa, runAsrWorker } = await import('./channels/sherpa/worker.ts')
  await runAsrWorker(() => openSherpa(JSON.parse(pack)), process)
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

async function runBackup(args: readonly string[]): Promise<void> {
  const file = onlyFile(parse(args, {}).positionals, 'moonbase backup FILE')
  await backup({ config: loadConfig(process.env), version, file, write })
}

async function runRestore(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args, { force: { type: 'boolean' } })
  const file = onlyFile(positionals, 'moonbase restore FILE [--force]')
  await restore({ config: loadConfig(process.env), file, force: values.force === true, write })
}

async function runDoctor(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args, { json: { type: 'boolean' } })
  if (positionals.length > 0) throw new UsageError('usage: moonbase doctor [--json]')
  const well = await doctor({ env: process.env, program, json: values.json === true, write })
  if (!well) process.exit(1)
}

function onlyFile([file, ...more]: readonly string[], usage: string): string {
  if (file === undefined || more.length > 0) throw new UsageError(`usage: ${usage}`)
  return file
}

type ArgOptions = NonNullable<Parameters<typeof parseArgs>[0]>['options']

function parse(args: readonly string[], options: NonNullable<ArgOptions>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'wrong arguments')
  }
}

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  serve: runServe,
  key: runKey,
  backup: runBackup,
  restore: runRestore,
  doctor: runDoctor,
  [EMBED_COMMAND]: ([modelDir = '']) => runEmbed(modelDir),
  [ASR_COMMAND]: ([pack = '']) => runAsr(pack),
}

async function main([command = 'serve', ...rest]: readonly string[]): Promise<void> {
  if (['--help', '-h', 'help'].includes(command)) return write(help())
  if (['--version', '-v', 'version'].includes(command)) return write(`moonbase ${version}\n`)
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined
  if (!run) {
    throw new UsageError(`there is no command ${JSON.stringify(command)}; see moonbase --help`)
  }
  if (rest.includes('--help') || rest.includes('-h')) return write(helpOf(command))
  await run(rest)
}

/** One sentence for what an operator can mend, and the whole error for what they cannot. */
function tell(error: unknown): void {
  const known = [ConfigError, OperatorError, UsageError].some((kind) => error instanceof kind)
  const text = error instanceof Error ? (known ? error.message : error.stack) : String(error)
  process.stderr.write(`moonbase: ${text}\n`)
}

// Keys and conversations: nobody but this user reads what is written.
process.umask(0o077)

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    tell(error)
    process.exit(1)
  },
)
