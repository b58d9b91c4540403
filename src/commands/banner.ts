import type { Config } from '../config.ts'
import type { Adapters } from '../wiring/adapters.ts'
import { printableLine } from './output.ts'

/** What the server prints when it listens (contract, section 6). */
export function startFacts(url: string, { config, platform, embedding, speech }: Adapters) {
  return {
    url,
    data: config.MB_DATA_DIR,
    channel: platform.get().description,
    embedding: embedding.description,
    voice: speech.description,
    sign_in: signIn(url, config),
  }
}

/** The same as text for a terminal. */
export function banner(facts: ReturnType<typeof startFacts>, version: string): string {
  const rows = [
    ['Address', facts.url],
    ['Data', facts.data],
    ['Model', facts.channel],
    ['Embedding', facts.embedding],
    ['Voice', facts.voice],
    ['Sign in', facts.sign_in],
    ['First key', 'moonbase key create (in another terminal)'],
  ]
  const lines = rows.map(
    ([name, text]) => `  ${(name ?? '').padEnd(10)} ${printableLine(text ?? '')}`,
  )
  return `\n  Moonbase ${version}\n\n${lines.join('\n')}\n\n  Stop with Ctrl+C.\n\n`
}

function signIn(url: string, config: Config): string {
  const page = `${config.MB_PUBLIC_URL?.replace(/\/$/, '') ?? url}/login`
  return config.MB_SMTP_URL ? `${page} (codes by mail)` : `${page} (codes are shown here)`
}
