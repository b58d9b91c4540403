import { dirname } from 'node:path'
import type { parseArgs } from 'node:util'
import { version } from '../../package.json'
import { ConfigError, loadConfig } from '../config.ts'
import { OperatorError } from '../data-folder/operator-error.ts'
import {
  ASR_COMMAND,
  EMBED_COMMAND,
  mainFile,
  PARSE_COMMAND,
  type Program,
  programAt,
} from '../wiring/program.ts'
import { isTerminal, openOutput, printable } from './output.ts'

/** A command that was mistyped; told with the way to the help text. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

const write = openOutput()

async function runServe(args: readonly string[], program: Program): Promise<void> {
  if (args.length > 0 && parse(args, {}).positionals.length > 0)
    throw new UsageError('usage: moonbase serve')
  const config = loadConfig(process.env)
  const { serve } = await import('./serve.ts')
  const terminal = isTerminal()
  await serve({ config, env: process.env, version, program, terminal, write })
}

async function runEmbed(modelDir: string): Promise<void> {
  const { mendEmbeddingParts } = await import('../native/runtime.ts')
  const binding = process.env.MOONBASE_ONNX_BINDING
  if (binding !== undefined) await mendEmbeddingParts(dirname(binding))
  const { runEmbedWorker } = await import('../channels/onnx/worker.ts')
  await runEmbedWorker(modelDir, process)
}

async function runParse(): Promise<void> {
  const { runParseWorker } = await import('../channels/parser/worker.ts')
  const { parseFunctions } = await import('../wiring/parse-tasks.ts')
  await runParseWorker(parseFunctions, process)
}

/** `pack`: a `VoicePack` as JSON. */
async function runAsr(pack: string): Promise<void> {
  const { openSherpa, runAsrWorker } = await import('../channels/sherpa/worker.ts')
  await runAsrWorker(() => openSherpa(JSON.parse(pack)), process)
}

async function runKey(args: readonly string[], program: Program): Promise<void> {
  const { values, positionals } = parse(args, {
    email: { type: 'string' },
    'rate-limit': { type: 'string' },
    json: { type: 'boolean' },
  })
  if (positionals.join(' ') !== 'create')
    throw new UsageError('usage: moonbase key create [--email E] [--rate-limit N] [--json]')
  const limit = values['rate-limit']
  if (typeof limit === 'string' && !/^\d+$/.test(limit)) {
    throw new UsageError('--rate-limit is requests a minute, a whole number; 0 is unlimited')
  }
  const { normalEmail } = await import('../features/login/model.ts')
  const email = typeof values.email === 'string' ? normalEmail(values.email) : undefined
  if (email === null) throw new UsageError('--email must be an e-mail address')
  const { createKey } = await import('./key.ts')
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
  const { backup } = await import('./backup.ts')
  await backup({ config: loadConfig(process.env), version, file, write })
}

async function runRestore(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args, { force: { type: 'boolean' } })
  const file = onlyFile(positionals, 'moonbase restore FILE [--force]')
  const { restore } = await import('./restore.ts')
  await restore({ config: loadConfig(process.env), file, force: values.force === true, write })
}

async function runDoctor(args: readonly string[], program: Program): Promise<void> {
  const { values, positionals } = parse(args, { json: { type: 'boolean' } })
  if (positionals.length > 0) throw new UsageError('usage: moonbase doctor [--json]')
  const { doctor } = await import('./doctor/doctor.ts')
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
    const util = process.getBuiltinModule('node:util')
    return util.parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    // Its first sentence says what is wrong; more lines explain the parser.
    throw new UsageError(error instanceof Error ? error.message.split('\n')[0] : 'wrong arguments')
  }
}

const helpText = () => import('./help.ts')

type Command = (args: readonly string[], program: Program) => Promise<void>

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: runServe,
  key: runKey,
  backup: runBackup,
  restore: runRestore,
  doctor: runDoctor,
  [EMBED_COMMAND]: ([modelDir = '']) => runEmbed(modelDir),
  [ASR_COMMAND]: ([pack = '']) => runAsr(pack),
  [PARSE_COMMAND]: runParse,
}

/** Each command loads its own parts, so that none waits for those of another. */
async function dispatch([command = 'serve', ...rest]: readonly string[], main: string) {
  if (['--version', '-v', 'version'].includes(command)) return write(`moonbase ${version}\n`)
  if (['--help', '-h', 'help'].includes(command)) return write((await helpText()).help())
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined
  if (!run) {
    throw new UsageError(`there is no command ${JSON.stringify(command)}; see moonbase --help`)
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    return write((await helpText()).helpOf(command))
  }
  await run(rest, programAt(main, [process.execPath, ...mainFile()]))
}

/** One sentence for what an operator can mend, and the whole error for what they cannot. */
function tell(error: unknown): void {
  const known = [ConfigError, OperatorError, UsageError].some((kind) => error instanceof kind)
  const text = error instanceof Error ? (known ? error.message : error.stack) : String(error)
  process.stderr.write(printable(`moonbase: ${text}\n`))
}

/** The exit code of the command line `args`. `main` is the address of `src/main.ts`. */
export async function runCommandLine(args: readonly string[], main: string): Promise<number> {
  try {
    await dispatch(args, main)
    return 0
  } catch (error) {
    tell(error)
    return 1
  }
}
