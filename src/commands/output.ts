import { fstatSync, statSync } from 'node:fs'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { LOGIN_CODE_SECONDS_MAX } from '../core/limits/contract.ts'
import { createLogger } from '../core/log.ts'
import type { Adapters } from '../wiring/adapters.ts'

const STDOUT = 1

/** Control characters, and those that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/**
 * The text without characters that control a terminal. Names of models, files and backups are
 * untrusted and could move the cursor, clear the screen or write to the clipboard.
 */
export const printable = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (unit) => (unit === '\n' || unit === '\t' ? unit : '?'))

/** As `printable`, for a value that must not begin a line of its own. */
export const printableLine = (text: string): string => text.replaceAll(UNPRINTABLE, '?')

/**
 * Standard output without `process.stdout`, which takes longer to load than opening a database.
 * Never waits for a slow reader and ignores a closed one. Prints only `printable` text.
 */
export function openOutput(): (text: string) => void {
  const sink = Bun.stdout.writer()
  return (text) => {
    try {
      sink.write(printable(text))
      void Promise.resolve(sink.flush()).catch(() => {})
    } catch {
      // The reader has closed the pipe; the server continues without it.
    }
  }
}

/** Whether the output is a terminal. */
export function isTerminal(): boolean {
  const out = fstatSync(STDOUT)
  if (!out.isCharacterDevice() || out.rdev === rdevOf('/dev/null')) return false
  return process.stdout.isTTY === true
}

const rdevOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.rdev

/** The facts that the server prints when it listens. */
export function startFacts(
  url: string,
  { live, platform, embedding, speech }: Adapters,
  {
    wyoming,
    ollama,
  }: { readonly wyoming?: string | undefined; readonly ollama?: string | undefined },
) {
  const config = live.config()
  return {
    url,
    data: config.MB_DATA_DIR,
    channel: platform.channel.current.description,
    embedding: embedding.current.description,
    voice: speech.description(),
    ...(wyoming === undefined ? {} : { wyoming }),
    ...(ollama === undefined ? {} : { ollama }),
    sign_in: signIn(url, config),
  }
}

/**
 * The same as text for a terminal. `isNew`: nobody has signed in yet, so the next person to do so
 * becomes its operator.
 */
export function banner(
  facts: ReturnType<typeof startFacts>,
  version: string,
  isNew: boolean,
): string {
  const rows = [
    ['Address', facts.url],
    ['Data', facts.data],
    ['Model', facts.channel],
    ['Embedding', facts.embedding],
    ['Voice', facts.voice],
    ...(facts.wyoming === undefined ? [] : [['Wyoming', facts.wyoming]]),
    ...(facts.ollama === undefined ? [] : [['Ollama', facts.ollama]]),
    ['Sign in', facts.sign_in],
    ['First key', 'moonbase key create (in another terminal)'],
  ]
  const lines = rows.map(
    ([name, text]) => `  ${(name ?? '').padEnd(10)} ${printableLine(text ?? '')}`,
  )
  const first = isNew ? `  ${FIRST_PERSON}\n` : ''
  return `\n  Moonbase ${version}\n\n${lines.join('\n')}\n\n${first}  Stop with Ctrl+C.\n\n`
}

const FIRST_PERSON =
  'The first person to sign in runs this server, and is asked there what should answer.'

function signIn(url: string, config: Config): string {
  // No browser opens the address that stands for all of a machine.
  const here = url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, '//127.0.0.1')
  const page = `${config.MB_PUBLIC_URL?.replace(/\/$/, '') ?? here}/login`
  return config.MB_SMTP_URL ? `${page} (codes by mail)` : `${page} (codes are shown here)`
}

export interface CodePrinterOptions {
  readonly clock: Clock
  /** Whether the output is a terminal. */
  readonly terminal: boolean
  readonly write: (text: string) => void
}

/**
 * Prints login codes on the server's output when no mail server is set, at any MB_LOG_LEVEL:
 * without them nobody could sign in.
 */
export function codePrinter({ clock, terminal, write }: CodePrinterOptions) {
  const now = () => new Date(clock.now())
  const log = createLogger({ level: 'info', json: true, now, write })
  return (email: string, code: string): void => {
    if (terminal) write(block(email, code))
    else log.info('login code', { email, code })
  }
}

const block = (email: string, code: string) => `
  ┌ Sign-in code for ${email}
  │
  │     ${code}
  │
  └ valid for ${LOGIN_CODE_SECONDS_MAX / 60} minutes

`
