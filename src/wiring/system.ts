import { basename } from 'node:path'
import { streamedWavHeader } from '../audio/wav.ts'
import { findLocalServers } from '../channels/openai/detect.ts'
import { listModels } from '../channels/openai/models.ts'
import { probe } from '../channels/openai/probe.ts'
import { createReranker } from '../channels/openai/reranker.ts'
import {
  type Config,
  ConfigError,
  type Environment,
  givenSettings,
  loadConfig,
  SETTINGS,
} from '../config.ts'
import { createSeal, type Seal } from '../core/crypto.ts'
import { appError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import type { Secrets } from '../data-folder/secrets.ts'
import type { SystemRouteOptions } from '../features/system/routes.ts'
import { createSystem, ownerOf, type SettingTexts } from '../features/system/service.ts'
import { isSystemSetting, type SystemPart } from '../features/system/settings.ts'
import { createSystemStore } from '../features/system/store.ts'
import { createTrial, type Try } from '../features/system/trial.ts'
import type { Tenants } from '../features/tenants/service.ts'
import type { Jobs } from '../jobs/runner.ts'
import { createWebSearch } from '../tools/web-search.ts'
import { ChannelFailure } from '../upstream/ports/failure.ts'
import { DEFAULT_VOICE } from '../upstream/ports/speech.ts'
import type { Adapters } from './adapters.ts'
import { lookForModelPack } from './model-pack.ts'
import type { SealedSetting } from './storage.ts'

/** The settings of the console, from this database; those that cannot be decrypted are left out. */
export function readStoredSettings(
  sealed: readonly SealedSetting[],
  encryption: Secrets['encryption'],
  log: Logger,
): SettingTexts {
  return textsOf(sealed, encryption && createSeal(encryption), log)
}

function textsOf(
  rows: readonly { readonly name: string; readonly value_sealed: Uint8Array }[],
  seal: Seal | null,
  log: Logger,
): SettingTexts {
  const texts: Record<string, string> = {}
  for (const { name, value_sealed } of rows) {
    const text = seal?.open(value_sealed, ownerOf(name)) ?? null
    if (text !== null && isSystemSetting(name)) texts[name] = text
    else log.warn('a setting of the console is left out', { name })
  }
  return texts
}

/**
 * The settings in force; the environment has precedence over the console. Settings of the console
 * that are not valid with this environment or version are left out: the server must start anyway.
 */
export function effectiveConfig(env: Environment, stored: SettingTexts, log: Logger): Config {
  try {
    return loadConfig({ ...stored, ...givenSettings(env) })
  } catch (error) {
    if (!(error instanceof ConfigError) || Object.keys(stored).length === 0) throw error
    const { [error.setting ?? '']: wrong, ...rest } = stored
    log.warn('a setting of the console is left out', { reason: error.message })
    return effectiveConfig(env, wrong === undefined ? {} : rest, log)
  }
}

/** The default of a setting, in the form in which the environment would set it. */
function defaultOf(name: string): string | null {
  const parsed = SETTINGS[name as keyof typeof SETTINGS]?.safeParse(undefined)
  return parsed?.success && parsed.data !== undefined ? String(parsed.data) || null : null
}

/** Longest wait for a list of models; a person is waiting. */
const LIST_MS_MAX = 10_000
/** Longest wait for local servers, longer than at the start: one may be loading a model. */
const LOCAL_MS_MAX = 1_500

/** Differs after every change, also to the same text: each sealing has its own salt. */
const revisionOf = (rows: readonly SealedSetting[]) =>
  rows
    .map(({ name, value_sealed: sealed }) => `${name} ${Buffer.from(sealed).toString('base64')}`)
    .sort()
    .join()

/** Acts when the revision is not the one for which `act` last succeeded. */
function onceChanged(read: () => Promise<string>, act: () => Promise<void>) {
  let done: string | null = null
  return async () => {
    const revision = await read()
    if (revision === done) return
    await act()
    done = revision
  }
}

/** Wires the settings of the whole server. */
export function openSystem(
  adapters: Adapters,
  jobs: Jobs,
  tenants: Pick<Tenants, 'emailOf'>,
): SystemRouteOptions {
  const { clock, db, env, fetch, kb, live, log, secrets, shared, stored } = adapters
  const store = createSystemStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)

  async function prepare(texts: SettingTexts) {
    try {
      return await live.prepare(loadConfig({ ...texts, ...givenSettings(env) }))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      throw appError('field_invalid', { field: error.setting ?? '' }, { cause: error })
    }
  }

  const system = createSystem({
    ...{ store, seal },
    environment: givenSettings(env),
    ...{ stored, defaultOf, prepare },
    readStored: async () => (shared.isAlone ? null : textsOf(await store.all(), seal, log)),
    onApplied: () => jobs.run('embed anew', kb.reembed.run),
    announce: () => shared.announcer.announce('settings', ''),
  })
  shared.announcer.on('settings', system.reload)
  shared.announcer.watch(onceChanged(async () => revisionOf(await store.all()), system.reload))
  return {
    system,
    trial: createTrial({ clock, tries: systemTries(adapters) }),
    emailOf: ({ userId }) => tenants.emailOf(userId ?? ''),
    async localModels() {
      const found = await findLocalServers({ fetch, clock, timeoutMs: LOCAL_MS_MAX })
      const servers = found.map(({ name, baseUrl, models }) => ({
        ...{ name, base_url: baseUrl, models: [...models] },
      }))
      return { servers }
    },
    modelPack() {
      const { pack, folder, program, models } = lookForModelPack(adapters.config)
      const { chat = null } = models
      return {
        ...{ folder, program: program && basename(program), model: chat && basename(chat) },
        complete: pack?.models.chat !== undefined,
        running: adapters.modelPack.servers.chat !== undefined,
      }
    },
    async modelsAt(endpoint, signal) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(LIST_MS_MAX)])
      const { models, failure } = await listModels({ ...endpoint, fetch }, until)
      signal.throwIfAborted()
      return { models: [...models], error_class: failure ?? (models.length > 0 ? null : 'no_list') }
    },
  }
}

const TRY_MS = 25_000
/** The operator's id where tenants take turns; no tenant has this id. */
const OPERATOR = 'operator'
const RATE = 16_000

/** Tries each part of the server with a small piece of its real work. */
function systemTries(adapters: Adapters): Readonly<Record<SystemPart, Try>> {
  const { clock, embedding, fetch, live, platform, speech } = adapters
  return {
    async llm(signal) {
      const { endpoint, description, packed } = platform.channel.current
      if (endpoint === null) return null
      const model = live.config().MB_LLM_MODEL ?? null
      const channel = { ...endpoint, fetch: packed?.fetch ?? fetch }
      const result = await probe({ ...channel, clock, model, timeoutMs: TRY_MS }, signal)
      if (!result.ok) throw new ChannelFailure('channel_unavailable', result.error)
      return description
    },
    async embedding(signal) {
      const { embedder, description } = embedding.current
      const [vector] = await embedder.embed(['moon'], 'query', signal)
      return `${description}, ${vector?.length ?? 0} dimensions`
    },
    async rerank(signal) {
      const { MB_RERANK_BASE_URL: baseUrl, MB_RERANK_API_KEY: apiKey = '' } = live.config()
      if (baseUrl === undefined) return null
      const model = live.config().MB_RERANK_MODEL ?? null
      const reranker = createReranker({ fetch, clock, baseUrl, apiKey, model, timeoutMs: TRY_MS })
      await reranker.rank('moon', ['moon', 'sun'], signal)
      return new URL(baseUrl).host
    },
    async tts(signal) {
      const tts = speech.tts.current
      if (tts === null) return null
      const request = { text: '你好', voice: DEFAULT_VOICE, tenantId: OPERATOR }
      const { rate, chunks } = await tts.speak(request, signal)
      let bytes = 0
      for await (const chunk of chunks) bytes += chunk.length
      if (bytes === 0) throw new ChannelFailure('provider_error', 'empty audio')
      return `${tts.name}, ${(bytes / 2 / rate).toFixed(1)} s`
    },
    async asr(signal) {
      const { asr } = speech.hearing.current
      if (asr === null) return null
      // A second of silence; an empty transcript is the right answer.
      const bytes = Buffer.concat([streamedWavHeader(RATE), new Uint8Array(2 * RATE)])
      await asr.transcribe({ bytes, tenantId: OPERATOR }, signal)
      return asr.name
    },
    async search(signal) {
      const { MB_SEARCH_URL: root } = live.config()
      if (root === undefined) return null
      const tool = createWebSearch({ fetch, clock, root })
      await tool.run({ query: 'moon' }, { signal, tenantId: OPERATOR })
      return new URL(root).host
    },
    async mail(signal, email) {
      const mailer = adapters.mailer.current
      if (mailer === null) return null
      await mailer.send({ to: email, subject: SUBJECT, text: LETTER }, signal)
      return email
    },
  }
}

const SUBJECT = 'Moonbase 测试邮件 / test mail'
const LETTER = `这封邮件说明 Moonbase 可以发信。

This mail shows that Moonbase can send mail.
`
