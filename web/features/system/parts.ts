/** The sections of the page, each with its settings, in the order in which they are shown. */
export interface SystemSection {
  readonly id: SectionId
  readonly names: readonly string[]
  /** The upstream that the server can try; null when there is none. */
  readonly part: string | null
}

export type SectionId =
  | 'llm'
  | 'embedding'
  | 'rerank'
  | 'tts'
  | 'asr'
  | 'search'
  | 'address'
  | 'hosts'
  | 'signin'
  | 'limits'
  | 'backup'

const of = (id: SectionId, part: string | null, ...names: string[]): SystemSection => ({
  id,
  part,
  names: names.map((name) => `MB_${name}`),
})

const SECTIONS: readonly SystemSection[] = [
  of('llm', 'llm', 'LLM_BASE_URL', 'LLM_API_KEY', 'LLM_MODEL', 'LLM_THINKING', 'LLM_DETECT'),
  of('embedding', 'embedding', 'EMBED_BASE_URL', 'EMBED_API_KEY', 'EMBED_MODEL'),
  of('rerank', 'rerank', 'RERANK_BASE_URL', 'RERANK_API_KEY', 'RERANK_MODEL'),
  of('tts', 'tts', 'TTS_KIND', 'TTS_BASE_URL', 'TTS_API_KEY', 'TTS_MODEL', 'TTS_VOICE'),
  of('asr', 'asr', 'ASR_KIND', 'ASR_BASE_URL', 'ASR_API_KEY', 'ASR_MODEL'),
  of('search', 'search', 'SEARCH_URL'),
  of('signin', null, 'SIGNIN'),
  of(
    'limits',
    null,
    ...['KB_MAX_DOCS', 'KB_MAX_DOC_KB', 'KB_MAX_FILE_MB', 'TRANSCRIPT', 'FILE_HOURS'],
    ...['OCR_MAX_PAGES', 'MAX_STREAMS', 'LOG_DAYS'],
  ),
  of(
    'backup',
    null,
    ...['BACKUP_DIR', 'BACKUP_S3', 'BACKUP_PASSPHRASE', 'BACKUP_EVERY', 'BACKUP_KEEP'],
  ),
  of('address', null, 'PUBLIC_URL'),
  of('hosts', null, 'ALLOW_PRIVATE_HOSTS'),
]

/** Throws for an unknown name. */
export function sectionOf(id: SectionId): SystemSection {
  const found = SECTIONS.find((section) => section.id === id)
  if (!found) throw new Error(`no section ${id}`)
  return found
}

/** The section of a setting; undefined for one that stands in none. */
export const sectionOfSetting = (name: string): SystemSection | undefined =>
  SECTIONS.find(({ names }) => names.includes(name))

/** The end of a setting's name: `MB_LLM_BASE_URL` is a `BASE_URL`. */
const KINDS = ['BASE_URL', 'API_KEY', 'MODEL', 'KIND'] as const
export type NameWord = (typeof KINDS)[number]

/** The kind of a setting that several sections have; null for one of a single section. */
export const kindOf = (name: string): NameWord | null =>
  KINDS.find((kind) => name.endsWith(`_${kind}`)) ?? null

/** Values of settings that are chosen from a list. */
export const CHOICES: Readonly<Record<string, readonly string[]>> = {
  MB_LLM_THINKING: ['auto', 'reasoning_effort', 'thinking', 'enable_thinking', 'none'],
  MB_LLM_DETECT: ['true', 'false'],
  MB_TRANSCRIPT: ['true', 'false'],
  MB_TTS_KIND: ['openai', 'minimax', 'wyoming', 'espeak', 'none'],
  MB_ASR_KIND: ['openai', 'wyoming', 'local', 'none'],
}

export const EXAMPLES: Readonly<Record<string, string>> = {
  MB_LLM_BASE_URL: 'http://127.0.0.1:11434/v1',
  MB_SEARCH_URL: 'http://127.0.0.1:8888',
  MB_BACKUP_S3: 's3://bucket/moonbase',
  MB_PUBLIC_URL: 'https://moonbase.example.com',
  MB_ALLOW_PRIVATE_HOSTS: 'nas.local, 192.168.1.20:11434',
}
