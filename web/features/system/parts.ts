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
  | 'mail'
  | 'signup'
  | 'address'
  | 'hosts'

const of = (id: SectionId, part: string | null, ...names: string[]): SystemSection => ({
  id,
  part,
  names: names.map((name) => `MB_${name}`),
})

export const SECTIONS: readonly SystemSection[] = [
  of('llm', 'llm', 'LLM_BASE_URL', 'LLM_API_KEY', 'LLM_MODEL', 'LLM_THINKING', 'LLM_DETECT'),
  of('embedding', 'embedding', 'EMBED_BASE_URL', 'EMBED_API_KEY', 'EMBED_MODEL'),
  of('rerank', 'rerank', 'RERANK_BASE_URL', 'RERANK_API_KEY', 'RERANK_MODEL'),
  of('tts', 'tts', 'TTS_KIND', 'TTS_BASE_URL', 'TTS_API_KEY', 'TTS_MODEL', 'TTS_VOICE'),
  of('asr', 'asr', 'ASR_KIND', 'ASR_BASE_URL', 'ASR_API_KEY', 'ASR_MODEL'),
  of('search', 'search', 'SEARCH_URL'),
  of('mail', 'mail', 'SMTP_URL', 'MAIL_FROM'),
  of('signup', null, 'SIGNUP'),
  of('address', null, 'PUBLIC_URL'),
  of('hosts', null, 'ALLOW_PRIVATE_HOSTS'),
]

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
  MB_TTS_KIND: ['openai', 'minimax', 'wyoming', 'espeak', 'none'],
  MB_ASR_KIND: ['openai', 'wyoming', 'local', 'none'],
}

export const EXAMPLES: Readonly<Record<string, string>> = {
  MB_LLM_BASE_URL: 'http://127.0.0.1:11434/v1',
  MB_SEARCH_URL: 'http://127.0.0.1:8888',
  MB_SMTP_URL: 'smtp://user:password@mail.example.com:587',
  MB_MAIL_FROM: 'Moonbase <moonbase@example.com>',
  MB_SIGNUP: 'open',
  MB_PUBLIC_URL: 'https://moonbase.example.com',
  MB_ALLOW_PRIVATE_HOSTS: 'nas.local, 192.168.1.20:11434',
}
