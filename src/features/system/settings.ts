/** The upstreams of the server that can be tried. */
export const SYSTEM_PARTS = [
  'llm',
  'embedding',
  'rerank',
  'tts',
  'asr',
  'search',
  'mail',
  'host',
] as const
export type SystemPart = (typeof SYSTEM_PARTS)[number]

/** Settings of the whole server that the console may set, by their names in the environment. */
export const SYSTEM_SETTINGS = [
  'MB_LLM_BASE_URL',
  'MB_LLM_API_KEY',
  'MB_LLM_MODEL',
  'MB_LLM_THINKING',
  'MB_LLM_DETECT',
  'MB_EMBED_BASE_URL',
  'MB_EMBED_API_KEY',
  'MB_EMBED_MODEL',
  'MB_RERANK_BASE_URL',
  'MB_RERANK_API_KEY',
  'MB_RERANK_MODEL',
  'MB_TTS_KIND',
  'MB_TTS_BASE_URL',
  'MB_TTS_API_KEY',
  'MB_TTS_MODEL',
  'MB_TTS_VOICE',
  'MB_ASR_KIND',
  'MB_ASR_BASE_URL',
  'MB_ASR_API_KEY',
  'MB_ASR_MODEL',
  'MB_SEARCH_URL',
  'MB_SMTP_URL',
  'MB_MAIL_FROM',
  'MB_SIGNUP',
  'MB_SIGNIN',
  'MB_PUBLIC_URL',
  'MB_ALLOW_PRIVATE_HOSTS',
  'MB_KB_MAX_DOCS',
  'MB_KB_MAX_DOC_KB',
  'MB_KB_MAX_FILE_MB',
  'MB_TRANSCRIPT',
  'MB_FILE_HOURS',
  'MB_OCR_MAX_PAGES',
  'MB_MAX_STREAMS',
  'MB_LOG_DAYS',
  'MB_HOST',
  'MB_BACKUP_DIR',
  'MB_BACKUP_S3',
  'MB_BACKUP_PASSPHRASE',
  'MB_BACKUP_EVERY',
  'MB_BACKUP_KEEP',
] as const
export type SystemSettingName = (typeof SYSTEM_SETTINGS)[number]

/** The key that is sent to each address. A new address must not get the old key. */
export const KEY_OF_ADDRESS = {
  MB_LLM_BASE_URL: 'MB_LLM_API_KEY',
  MB_EMBED_BASE_URL: 'MB_EMBED_API_KEY',
  MB_RERANK_BASE_URL: 'MB_RERANK_API_KEY',
  MB_TTS_BASE_URL: 'MB_TTS_API_KEY',
  MB_ASR_BASE_URL: 'MB_ASR_API_KEY',
} as const satisfies Partial<Record<SystemSettingName, SystemSettingName>>

/** Settings whose values are never shown; the URL of the mail server holds a password. */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set([
  ...Object.values(KEY_OF_ADDRESS),
  'MB_SMTP_URL',
  'MB_BACKUP_PASSPHRASE',
])

export const isSystemSetting = (name: string): name is SystemSettingName =>
  (SYSTEM_SETTINGS as readonly string[]).includes(name)

/** Whether both are addresses of one server, to which the same key may be sent. */
export function isSameServer(one: string, other: string | null): boolean {
  const [a, b] = [URL.parse(one), other === null ? null : URL.parse(other)]
  return a !== null && b !== null && a.protocol === b.protocol && a.host === b.host
}
