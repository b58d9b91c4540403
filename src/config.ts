import { z } from 'zod'
import { CHAT_MESSAGES_MAX, CHAT_TEXT_CHARS_MAX } from './core/limits/contract.ts'
import { LOG_LEVELS } from './core/log.ts'
import {
  appSchemes,
  database,
  decimal,
  encryptionKey,
  every,
  flag,
  http,
  list,
  oneOf,
  s3,
  scheduleMin,
  secret,
  sender,
  sessionSecret,
  signin,
  signup,
  smtp,
  speech,
  text,
  whole,
  wholeBetween,
} from './setting-values.ts'
import { isAllowEntry } from './upstream/egress/url-guard.ts'
import { THINKING_FORMS } from './upstream/ports/llm.ts'

/**
 * A wrong setting, which stops the start; the message is one sentence that names the variable. A
 * server that ignored it would fail later, where nobody looks.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  /** `setting` is the variable that the message names; null when it names none. */
  constructor(
    message: string,
    readonly setting: string | null = null,
  ) {
    super(message)
  }
}

/** Every setting of the product, with its description in `--help`. */
export const SETTINGS = {
  MB_HOST: z.string().default('127.0.0.1').describe('address to listen on'),
  MB_PORT: whole(0, 65535, 3900).describe('port to listen on; 0 picks a free one'),
  MB_DATA_DIR: z.string().default('./data').describe('database, secrets, extracted native files'),
  MB_DATABASE_URL: database.describe('PostgreSQL database in place of the file in the data folder'),
  MB_DATABASE_DIRECT_URL: database.describe('the same without a pooler'),
  MB_PUBLIC_URL: http.describe('address people use, for links in mail and OAuth redirects'),
  MB_TRUST_PROXY: whole(0, 16, 0).describe('how many trusted proxies stand in front of the server'),
  MB_COOKIE_SECURE: oneOf(['auto', 'true', 'false'])
    .default('auto')
    .describe('sign-in over plain http: auto on a private network, true never, false everywhere'),
  MB_LLM_BASE_URL: http.describe('address of the model of the server (OpenAI-compatible root)'),
  MB_LLM_API_KEY: secret.describe('key of the model of the server'),
  MB_LLM_MODEL: text.describe('name of the model of the server'),
  MB_LLM_DETECT: flag(true).describe('look for Ollama, LM Studio or llama.cpp on this machine'),
  MB_MODEL_ARGS: text.describe('arguments of the model pack, such as -c 8192 -t 4 -ngl 99'),
  MB_MODEL_IDLE_MIN: whole(0, 100_000, 0).describe(
    'minutes without a turn after which the model pack is stopped; 0: never',
  ),
  MB_LLM_TIMEOUT_MS: whole(1, 3_600_000, 60_000).describe('longest silence of an upstream, ms'),
  MB_LLM_THINKING: oneOf(THINKING_FORMS)
    .default('auto')
    .describe('how its thinking is switched: auto, or a form (none: not at all)'),
  MB_EMBED_BASE_URL: http.describe('remote /embeddings; unset: local ONNX'),
  MB_EMBED_API_KEY: secret.describe('key of the remote embedding endpoint'),
  MB_EMBED_MODEL: text.describe('model of the remote embedding endpoint'),
  MB_EMBED_MODEL_DIR: text.describe('folder of a local ONNX embedding model (models/default)'),
  MB_RERANK_BASE_URL: http.describe('/rerank endpoint; unset: passages are not reranked'),
  MB_RERANK_API_KEY: secret.describe('key of the reranking endpoint'),
  MB_RERANK_MODEL: text.describe('model of the reranking endpoint'),
  MB_KB_MAX_DOCS: whole(1, 10_000, 50).describe('most documents of a tenant'),
  MB_KB_MAX_DOC_KB: whole(1, 400, 100).describe('largest document, KB'),
  MB_KB_MAX_FILE_MB: whole(1, 100, 20).describe('largest uploaded file, MB'),
  MB_TTS_KIND: oneOf(['openai', 'minimax', 'wyoming', 'espeak', 'none'])
    .optional()
    .describe('speech synthesis: openai, minimax, wyoming, espeak or none'),
  MB_TTS_BASE_URL: speech.describe('speech synthesis upstream'),
  MB_TTS_API_KEY: secret.describe('key of the speech synthesis upstream'),
  MB_TTS_MODEL: text.describe('model of the speech synthesis upstream'),
  MB_TTS_VOICE: text.describe('voice used for the default voice id'),
  MB_ASR_KIND: oneOf(['openai', 'wyoming', 'local', 'none'])
    .optional()
    .describe('speech recognition: openai, wyoming, local (voice pack) or none'),
  MB_ASR_BASE_URL: speech.describe('speech recognition upstream'),
  MB_ASR_API_KEY: secret.describe('key of the speech recognition upstream'),
  MB_ASR_MODEL: text.describe('model of the upstream, or folder of one in the voice pack'),
  MB_TLS_CERT: text.describe('certificate file (PEM); with MB_TLS_KEY serves https'),
  MB_TLS_KEY: text.describe('private key file (PEM)'),
  MB_SMTP_URL: smtp.describe('mail server for outgoing mail'),
  MB_MAIL_FROM: sender.describe('sender of outgoing mail'),
  MB_SIGNUP: signup.describe('open, closed, or addresses and @domains'),
  MB_SIGNIN: signin.describe('ways to sign in: email, oauth, passkey'),
  MB_GITHUB_CLIENT_ID: text.describe('login with GitHub'),
  MB_GITHUB_CLIENT_SECRET: text.describe('with MB_GITHUB_CLIENT_ID'),
  MB_GOOGLE_CLIENT_ID: text.describe('login with Google'),
  MB_GOOGLE_CLIENT_SECRET: text.describe('with MB_GOOGLE_CLIENT_ID'),
  MB_OIDC_ISSUER: http.describe('login with any OpenID issuer'),
  MB_OIDC_CLIENT_ID: text.describe('with MB_OIDC_ISSUER'),
  MB_OIDC_CLIENT_SECRET: text.describe('with MB_OIDC_ISSUER; unset: a public client'),
  MB_OIDC_NAME: text.describe('name on the login page (SSO)'),
  MB_SESSION_SECRET: sessionSecret.describe('signs console sessions; unset: made on first start'),
  MB_ENCRYPTION_KEY: encryptionKey.describe(
    'seals stored keys: 32 bytes (base64 or hex), or off; unset: made on first start',
  ),
  MB_APP_SCHEMES: appSchemes.describe('deep-link schemes of native apps'),
  MB_ALLOW_PRIVATE_HOSTS: list('')
    .refine((hosts) => hosts.every(isAllowEntry), {
      error: 'must be a comma list of host or host:port; each host is named, * is none',
    })
    .describe('private hosts that tenants may name'),
  MB_TRANSCRIPT: flag(true).describe('false keeps no turns beyond the memory of a session'),
  MB_SEARCH_URL: http.describe('SearXNG with JSON output, for the tool web_search'),
  MB_MCP_CALL_MS: whole(1, 3_600_000, 60_000).describe('longest call of an MCP tool, ms'),
  MB_ASK_MS: whole(10_000, 3_600_000, 300_000).describe(
    'how long a turn waits for the answer of its person, ms',
  ),
  MB_WYOMING_PORT: wholeBetween(0, 65535)
    .optional()
    .describe('port for Home Assistant; unset: off'),
  MB_WYOMING_KEY: secret.describe('key whose assistant answers there'),
  MB_OLLAMA_PORT: wholeBetween(0, 65535)
    .optional()
    .describe('port for clients of Ollama that send no key; unset: off'),
  MB_OLLAMA_KEY: secret.describe('key whose assistants answer there'),
  MB_OLLAMA_ORIGINS: list('').describe('origins of web pages that may use that port'),
  MB_CHAT_CHARS_MAX: whole(1_000, 2_000_000, CHAT_TEXT_CHARS_MAX).describe(
    'characters of one chat completion or response',
  ),
  MB_CHAT_MESSAGES_MAX: whole(1, 10_000, CHAT_MESSAGES_MAX).describe(
    'messages of one chat completion or response',
  ),
  MB_RESPONSE_HOURS: whole(0, 720, 24).describe(
    'hours that items of a response can be referred to; 0: none is kept',
  ),
  MB_FILE_HOURS: decimal(0.001, 720, 24).describe(
    'hours that a file of a conversation lives after its last use',
  ),
  MB_OCR_MAX_PAGES: whole(1, 1_000, 200).describe(
    'scanned pages of one file that a model reads; further ones stay unread',
  ),
  MB_LOG_DAYS: whole(1, 3_650, 90).describe(
    'days that the audit is kept; requests are kept 7 at most',
  ),
  MB_SCHEDULE_MIN: scheduleMin.describe('shortest time between two runs of a schedule, 1m to 1d'),
  MB_MAX_STREAMS: whole(1, 1_000_000, 10_000).describe('most open agent streams'),
  MB_LOG_LEVEL: oneOf(LOG_LEVELS)
    .default('info')
    .describe(`level of the server log: ${LOG_LEVELS.join(', ')}`),
  MB_METRICS_TOKEN: secret.describe('Bearer token of /metrics'),
  MB_BACKUP_DIR: text.describe('folder that takes encrypted backups'),
  MB_BACKUP_S3: s3.describe('s3://bucket/prefix that takes encrypted backups'),
  MB_BACKUP_PASSPHRASE: text.describe('encrypts backups; without it none can be restored'),
  MB_BACKUP_EVERY: every.describe('time between backups: a number with s, m, h or d'),
  MB_BACKUP_KEEP: whole(1, 1_000, 14).describe('how many backups are kept'),
} as const

/** Settings that are only valid together. */
const PAIRS = [
  ['MB_TLS_CERT', 'MB_TLS_KEY'],
  ['MB_WYOMING_PORT', 'MB_WYOMING_KEY'],
  ['MB_OLLAMA_PORT', 'MB_OLLAMA_KEY'],
  ['MB_GITHUB_CLIENT_ID', 'MB_GITHUB_CLIENT_SECRET'],
  ['MB_GOOGLE_CLIENT_ID', 'MB_GOOGLE_CLIENT_SECRET'],
  ['MB_OIDC_ISSUER', 'MB_OIDC_CLIENT_ID'],
] as const

/** Settings that must be the same for all servers of one database. */
const SHARED = ['MB_SESSION_SECRET', 'MB_ENCRYPTION_KEY'] as const

const schema = z.object(SETTINGS).superRefine((env, context) => {
  if (env.MB_OIDC_CLIENT_SECRET !== undefined && env.MB_OIDC_ISSUER === undefined) {
    const message = 'needs MB_OIDC_ISSUER and MB_OIDC_CLIENT_ID beside it'
    context.addIssue({ code: 'custom', path: ['MB_OIDC_CLIENT_SECRET'], message })
  }
  const place = env.MB_BACKUP_S3 === undefined ? 'MB_BACKUP_DIR' : 'MB_BACKUP_S3'
  if (env[place] !== undefined && env.MB_BACKUP_PASSPHRASE === undefined) {
    const message = 'needs MB_BACKUP_PASSPHRASE beside it, for a backup holds every secret'
    context.addIssue({ code: 'custom', path: [place], message })
  }
  if (env.MB_BACKUP_S3 !== undefined && env.MB_BACKUP_DIR !== undefined) {
    const message = 'and MB_BACKUP_S3 cannot be set together; choose one'
    context.addIssue({ code: 'custom', path: ['MB_BACKUP_DIR'], message })
  }
  for (const name of SHARED) {
    if (env.MB_DATABASE_URL === undefined) break
    if (env[name] !== undefined && env[name] !== 'off') continue
    const message = 'must be set beside MB_DATABASE_URL: all servers of a database need the same'
    context.addIssue({ code: 'custom', path: [name], message })
  }
  if (env.MB_DATABASE_DIRECT_URL !== undefined && env.MB_DATABASE_URL === undefined) {
    const message = 'needs MB_DATABASE_URL beside it'
    context.addIssue({ code: 'custom', path: ['MB_DATABASE_DIRECT_URL'], message })
  }
  for (const [one, other] of PAIRS) {
    if ((env[one] === undefined) === (env[other] === undefined)) continue
    context.addIssue({ code: 'custom', path: [one], message: `and ${other} must be set together` })
  }
})

export type Config = Readonly<z.infer<typeof schema>>

export type Environment = Readonly<Record<string, string | undefined>>

/** The settings that the environment sets. Empty variables count as unset, as in every shell. */
export const givenSettings = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => name.startsWith('MB_'))
      .map(([name, value]) => [name, value?.trim() ?? ''])
      .filter(([, value]) => value !== ''),
  )

/** The environment has precedence over `stored`, settings of the console. Throws `ConfigError`. */
export function loadConfig(
  env: Environment,
  stored: Readonly<Record<string, string>> = {},
): Config {
  const given = givenSettings({ ...stored, ...givenSettings(env) })
  const backup = Object.keys(given).find((name) => name.startsWith('MB_BACKUP_'))
  if (backup !== undefined && given.MB_DATABASE_URL !== undefined) {
    const message = `${backup} cannot be set beside MB_DATABASE_URL; back that up with pg_dump`
    throw new ConfigError(message, backup)
  }
  // Parsed once in a process, so generating code for the schema would cost more than it saves.
  const parsed = schema.safeParse(given, { jitless: true })
  if (parsed.success) return Object.freeze(parsed.data)
  const issue = parsed.error.issues[0]
  const name = String(issue?.path[0])
  throw new ConfigError(`${name} ${issue?.message}`, name)
}

/** Names that look like settings but are unknown, such as misspelt ones; for a warning at start. */
export function unknownSettings(env: Environment): string[] {
  return Object.keys(env).filter((name) => name.startsWith('MB_') && !(name in SETTINGS))
}
