import { version } from '../../package.json'
import { ConfigError } from '../config.ts'
import { explainDatabase, OperatorError } from '../data-folder/operator-error.ts'
import { type Invocation, UsageError } from './arguments.ts'
import { openOutput, printable } from './output.ts'
import {
  ASR_COMMAND,
  EMBED_COMMAND,
  MODEL_COMMAND,
  mainFile,
  PARSE_COMMAND,
  programAt,
  VAD_COMMAND,
} from './program.ts'

type Command = (invocation: Invocation) => Promise<void>

/** Each command loads only its own modules, which keeps its start short. */
const COMMANDS: Readonly<Record<string, Command>> = {
  serve: async (invocation) => (await import('./serve.ts')).runServe(invocation),
  key: async (invocation) => (await import('./key.ts')).runKey(invocation),
  admin: async (invocation) => (await import('./admin.ts')).runAdmin(invocation),
  backup: async (invocation) => (await import('./backup.ts')).runBackup(invocation),
  restore: async (invocation) => (await import('./restore.ts')).runRestore(invocation),
  migrate: async (invocation) => (await import('./migrate.ts')).runMigrate(invocation),
  doctor: async (invocation) => (await import('./doctor/doctor.ts')).runDoctor(invocation),
  sync: async (invocation) => (await import('./sync/sync.ts')).runSync(invocation),
  [EMBED_COMMAND]: async ({ args: [modelDir = ''] }) =>
    (await import('./workers.ts')).runEmbed(modelDir),
  [ASR_COMMAND]: async ({ args: [pack = ''] }) => (await import('./workers.ts')).runAsr(pack),
  [VAD_COMMAND]: async ({ args: [file = ''] }) => (await import('./workers.ts')).runVad(file),
  [MODEL_COMMAND]: async ({ args }) => (await import('./workers.ts')).runModel(args),
  [PARSE_COMMAND]: async () => (await import('./workers.ts')).runParse(),
}

const write = openOutput()
const helpText = () => import('./help.ts')

async function dispatch([command = 'serve', ...args]: readonly string[], main: string) {
  if (['--version', '-v', 'version'].includes(command)) return write(`moonbase ${version}\n`)
  if (['--help', '-h', 'help'].includes(command)) return write((await helpText()).help())
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined
  if (!run) {
    throw new UsageError(`there is no command ${JSON.stringify(command)}; see moonbase --help`)
  }
  if (args.includes('--help') || args.includes('-h')) {
    return write((await helpText()).helpOf(command))
  }
  const program = programAt(main, [process.execPath, ...mainFile()])
  await run({ args, env: process.env, version, program, write })
}

/** Prints one sentence for an error that the operator can fix, and a stack for any other. */
function report(raised: unknown): void {
  const error = explainDatabase(raised)
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
    report(error)
    return 1
  }
}
