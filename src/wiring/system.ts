import { basename } from 'node:path'
import { streamedWavHeader } from '../audio/wav.ts'
import { findLocalServers } from '../channels/openai/detect.ts'
import { chatModelsFirst, listModels } from '../channels/openai/models.ts'
import { probe } from '../channels/openai/probe.ts'
import { createReranker } from '../channels/openai/reranker.ts'
import { ConfigError, givenSettings, loadConfig, SETTINGS } from '../config.ts'
import { createSeal } from '../core/crypto.ts'
import { appError } from '../core/errors.ts'
import { createLastTests } from '../features/system/last-tests.ts'
import type { SystemRouteOptions } from '../features/system/routes.ts'
import { createSystem, type SettingChange, type SettingTexts } from '../features/system/service.ts'
import type { SystemPart } from '../features/system/settings.ts'
import { createSystemStore } from '../features/system/store.ts'
import { createTrial, type Try } from '../features/system/trial.ts'
import type { Tenants } from '../features/tenants/service.ts'
import type { Listener } from '../http/listener.ts'
import type { Jobs } from '../jobs/runner.ts'
import { createWebSearch } from '../tools/web-search.ts'
import { ChannelFailure } from '../upstream/ports/failure.ts'
import { DEFAULT_VOICE } from '../upstream/ports/speech.ts'
import type { Adapters } from './adapters.ts'
import { checkBackups } from './backup-check.ts'
import type { Backups } from './backups.ts'
import type { Knowledge } from './knowledge.ts'
import { mailTrial, testMail } from './mail-trial.ts'
import { lookForModelPack } from './model-pack.ts'
import type { SealedSetting } from './opened-storage.ts'
import { textsOf } from './stored-settings.ts'

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

interface SystemNeeds {
  readonly jobs: Jobs
  readonly tenants: Pick<Tenants, 'emailOf'>
  readonly kb: Pick<Knowledge, 'reembed'>
  readonly backups: Pick<Backups, 'settingsChanged' | 'routes'>
  readonly overview: SystemRouteOptions['machine']['overview']
  readonly listener: Pick<Listener, 'settingsChanged' | 'check' | 'addresses'>
}

/** Wires the settings of the whole server. */
export function openSystem(
  adapters: Adapters,
  { jobs, tenants, kb, backups, listener, overview }: SystemNeeds,
): SystemRouteOptions {
  const { clock, db, env, fetch, live, log, secrets, shared, stored } = adapters
  const store = createSystemStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)

  async function prepare(texts: SettingTexts) {
    try {
      return await live.prepare(loadConfig(env, texts))
    } catch (error) {
      throw explained(error)
    }
  }

  const allowMail = mailTrial(adapters)
  async function allowed(change: SettingChange): Promise<void> {
    try {
      const { MB_HOST: host } = change.after
      if (host !== undefined && host !== change.before.MB_HOST) listener.check(host)
      await checkBackups(change)
      await allowMail(change)
    } catch (error) {
      throw explained(error)
    }
  }

  const system = createSystem({
    store,
    seal,
    environment: givenSettings(env),
    stored,
    defaultOf,
    prepare,
    allow: allowed,
    readStored: async () => (shared.isAlone ? null : textsOf(await store.all(), seal, log)),
    onApplied() {
      jobs.run('embed anew', kb.reembed.run)
      backups.settingsChanged()
      listener.settingsChanged()
    },
    announce: () => shared.announcer.announce('settings', ''),
  })
  shared.announcer.on('settings', system.reload)
  shared.announcer.watch(onceChanged(async () => revisionOf(await store.all()), system.reload))
  return {
    machine: { overview, backups: backups.routes },
    system,
    tests: createLastTests({ clock, settings: () => system.get().settings }),
    trial: createTrial({ clock, tries: systemTries(adapters, listener) }),
    emailOf: ({ userId }) => tenants.emailOf(userId ?? ''),
    async localModels() {
      const found = await findLocalServers({ fetch, clock, timeoutMs: LOCAL_MS_MAX })
      const servers = found.map(({ name, baseUrl, models }) => ({
        name,
        base_url: baseUrl,
        models: [...models],
      }))
      return { servers }
    },
    modelPack() {
      const { pack, folder, program, models } = lookForModelPack(adapters.config)
      const { chat = null } = models
      return {
        folder,
        program: program && basename(program),
        model: chat && basename(chat),
        complete: pack?.models.chat !== undefined,
        running: adapters.modelPack.servers.chat !== undefined,
      }
    },
    async modelsAt({ baseUrl, apiKey }, signal) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(LIST_MS_MAX)])
      const { models, failure } = await listModels({ baseUrl, apiKey, fetch }, until)
      signal.throwIfAborted()
      return {
        models: chatModelsFirst(models),
        error_class: failure ?? (models.length > 0 ? null : 'no_list'),
      }
    },
  }
}

/** A wrong setting, as a fault of the request. */
const explained = (error: unknown): unknown =>
  error instanceof ConfigError
    ? appError('field_invalid', { field: error.setting ?? '' }, { cause: error })
    : error

const TRY_MS = 25_000
/** The operator's id where tenants take turns; no tenant has this id. */
const OPERATOR = 'operator'
const RATE = 16_000

/** Tries each part of the server with a small piece of its real work. */
function systemTries(
  adapters: Adapters,
  listener: SystemNeeds['listener'],
): Readonly<Record<SystemPart, Try>> {
  const { clock, embedding, fetch, live, platform, speech } = adapters
  return {
    async llm(signal) {
      const { endpoint, description, packed } = platform.channel.current
      if (endpoint === null) return null
      const model = live.config().MB_LLM_MODEL ?? null
      const { baseUrl, apiKey } = endpoint
      const ask = packed?.fetch ?? fetch
      const options = { baseUrl, apiKey, fetch: ask, clock, model, timeoutMs: TRY_MS }
      const result = await probe(options, signal)
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
    host: async () => listener.addresses().join(', '),
    async mail(signal, email) {
      const mailer = adapters.mailer.current
      if (mailer === null) return null
      await mailer.send(testMail(email), signal)
      await adapters.mailHealth.went()
      return email
    },
  }
}
