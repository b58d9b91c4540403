import type { Config } from '../config.ts'
import type { PlatformChannel } from './platform.ts'

export interface BannerFacts {
  readonly url: string
  readonly version: string
  readonly config: Config
  readonly platform: PlatformChannel
  readonly embedding: { readonly description: string }
  readonly speech: { readonly description: string }
}

/** What a person who has just started the server wants to know (contract, section 6). */
export function banner({ url, version, config, platform, embedding, speech }: BannerFacts): string {
  const rows = [
    ['Address', url],
    ['Data', config.MB_DATA_DIR],
    ['Model', platform.description],
    ['Embedding', embedding.description],
    ['Voice', speech.description],
    ['First key', 'moonbase key create (in another terminal)'],
  ]
  const lines = rows.map(([name, text]) => `  ${(name ?? '').padEnd(10)} ${text}`)
  return `\n  Moonbase ${version}\n\n${lines.join('\n')}\n\n  Stop with Ctrl+C.\n\n`
}
