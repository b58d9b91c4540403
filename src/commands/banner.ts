import type { Config } from '../config.ts'
import type { Adapters } from './adapters.ts'

/** What a person who has just started the server wants to know (contract, section 6). */
export function banner(url: string, version: string, adapters: Adapters): string {
  const { config, platform, embedding, speech } = adapters
  const rows = [
    ['Address', url],
    ['Data', config.MB_DATA_DIR],
    ['Model', platform.get().description],
    ['Embedding', embedding.description],
    ['Voice', speech.description],
    ['Sign in', signIn(url, config)],
    ['First key', 'moonbase key create (in another terminal)'],
  ]
  const lines = rows.map(([name, text]) => `  ${(name ?? '').padEnd(10)} ${text}`)
  return `\n  Moonbase ${version}\n\n${lines.join('\n')}\n\n  Stop with Ctrl+C.\n\n`
}

/** The sign-in page, and where its codes are to be found. */
export function signIn(url: string, config: Config): string {
  const page = `${config.MB_PUBLIC_URL?.replace(/\/$/, '') ?? url}/login`
  return config.MB_SMTP_URL ? `${page} (codes by mail)` : `${page} (codes are shown here)`
}
