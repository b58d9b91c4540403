import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { createAudioCodecs } from '../audio/index.ts'
import { createEspeakTts, findEspeak } from '../channels/espeak/tts.ts'
import { createMiniMaxTts } from '../channels/minimax/tts.ts'
import { createLocalVad, type LocalVad } from '../channels/onnx/vad.ts'
import { createOpenAiAsr } from '../channels/openai/asr.ts'
import { createOpenAiTts } from '../channels/openai/tts.ts'
import { createSherpaAsr, type SherpaAsr } from '../channels/sherpa/asr.ts'
import { findVad, findVoicePack, type PackFinding } from '../channels/sherpa/find.ts'
import { createWyomingAsr } from '../channels/wyoming/asr.ts'
import { createWyomingTts } from '../channels/wyoming/tts.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { type Meters, NO_METERS } from '../core/meters.ts'
import type { Principal } from '../core/principal.ts'
import type { Agent } from '../features/agent/service.ts'
import type { Admission } from '../features/usage/admission.ts'
import type { VoiceRouteOptions } from '../features/voice/routes.ts'
import { createVoice, type Hearing } from '../features/voice/service.ts'
import { createVoiceLoop } from '../features/voice/voice-turn.ts'
import { type LoggedRequest, type RequestContexts, rowOfStep } from '../http/observe.ts'
import { type NativeRuntime, onnxEnv } from '../native/runtime.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Parser } from '../upstream/ports/parser.ts'
import type { Asr, AudioCodecs, Tts } from '../upstream/ports/speech.ts'
import { meterAsr, meterTts } from '../upstream/resilience/metered.ts'
import { retryAsr, retryTts } from '../upstream/resilience/retry.ts'
import type { LiveSettings } from './live-settings.ts'

const MINIMAX_ROOT = 'https://api.minimaxi.com/v1'

interface SpeechNeeds {
  readonly live: LiveSettings
  readonly clock: Clock
  readonly log: Logger
  readonly fetch: UpstreamFetch
  readonly meters?: Meters
  /** The command that starts the recogniser process; the voice pack is appended to it. */
  readonly asrWorker: readonly string[]
  /** Address of the thread that encodes speech. */
  readonly encoderUrl: string
  readonly parser: Parser
}

/** The recognition in use; `local` is null when another recogniser, or none, is configured. */
interface Recognition extends Hearing {
  readonly local: LocalRecognition | null
}

export type Speech = Awaited<ReturnType<typeof openSpeech>>

const TTS_SETTINGS = [
  'MB_TTS_KIND',
  'MB_TTS_BASE_URL',
  'MB_TTS_API_KEY',
  'MB_TTS_MODEL',
  'MB_TTS_VOICE',
] as const
const ASR_SETTINGS = ['MB_ASR_KIND', 'MB_ASR_BASE_URL', 'MB_ASR_API_KEY', 'MB_ASR_MODEL'] as const

/** Voice as configured by `MB_TTS_*` and `MB_ASR_*`. */
export async function openSpeech(needs: SpeechNeeds) {
  const { live, clock, meters = NO_METERS, encoderUrl, parser } = needs
  // Speech is encoded on half of the processors at most; the others answer requests.
  const threads = Math.max(1, availableParallelism() >> 1)
  const codecs = createAudioCodecs({ clock, encoderUrl, parser, threads })
  const synthesis = (config: Config) => {
    const tts = openTts(config, codecs, needs)
    return tts && meterTts(retryTts(tts, clock), meters)
  }
  const recognition = (config: Config): Recognition => {
    const isLocal = asrKind(config) === 'local'
    const local = isLocal ? openLocalRecognition(config, codecs, needs) : null
    const asr = local ? local.asr : openAsr(config, codecs, needs)
    return {
      asr: asr && meterAsr(retryAsr(asr, clock), meters),
      // A recogniser over HTTP gets silence, too: it may hear more than our detector of speech.
      skipSilence: asr?.name !== 'openai',
      local,
    }
  }
  const tts = await live.part(TTS_SETTINGS, synthesis)
  const hearing = await live.part(ASR_SETTINGS, recognition, async ({ local }) => {
    await local?.asr?.close()
  })
  return {
    tts,
    hearing,
    codecs,
    /** One line for the start banner: the names of synthesis and recognition. */
    description(): string {
      const { asr, local } = hearing.current
      const listener = local?.pack ? `the voice pack (${local.pack.model.name})` : asr?.name
      return `speaks with ${tts.current?.name ?? 'nothing'}, listens with ${listener ?? 'nothing'}`
    },
  }
}

function openTts(config: Config, codecs: AudioCodecs, needs: SpeechNeeds): Tts | null {
  const { clock, log, fetch } = needs
  const baseUrl = config.MB_TTS_BASE_URL
  const apiKey = config.MB_TTS_API_KEY ?? ''
  const voice = config.MB_TTS_VOICE ?? ''
  switch (config.MB_TTS_KIND ?? kindOf(baseUrl) ?? 'espeak') {
    case 'openai': {
      const model = config.MB_TTS_MODEL ?? 'tts-1'
      const root = needed('MB_TTS_BASE_URL', baseUrl, 'http')
      return createOpenAiTts({ baseUrl: root, apiKey, model, voice, fetch, clock, codecs })
    }
    case 'minimax': {
      const model = config.MB_TTS_MODEL ?? 'speech-2.8-turbo'
      const root = needed('MB_TTS_BASE_URL', baseUrl ?? MINIMAX_ROOT, 'http')
      return createMiniMaxTts({ baseUrl: root, apiKey, model, voice, fetch, clock })
    }
    case 'wyoming':
      return createWyomingTts({ baseUrl: needed('MB_TTS_BASE_URL', baseUrl, 'tcp'), voice, clock })
    case 'espeak': {
      const folders = packFolders(config)
      const program = findEspeak({ folders, which: installed, exists: existsSync })
      if (!program && config.MB_TTS_KIND === 'espeak') {
        log.warn('speech program not found', { setting: 'MB_TTS_KIND', install: 'espeak-ng' })
      }
      return program && createEspeakTts({ program, voice, clock, codecs })
    }
    default:
      return null
  }
}

function openAsr(config: Config, codecs: AudioCodecs, needs: SpeechNeeds): Asr | null {
  const { clock, fetch } = needs
  const baseUrl = config.MB_ASR_BASE_URL
  switch (asrKind(config)) {
    case 'openai': {
      const model = config.MB_ASR_MODEL ?? 'whisper-1'
      const root = needed('MB_ASR_BASE_URL', baseUrl, 'http')
      const apiKey = config.MB_ASR_API_KEY ?? ''
      return createOpenAiAsr({ baseUrl: root, apiKey, model, fetch, clock, codecs })
    }
    case 'wyoming':
      return createWyomingAsr({ baseUrl: needed('MB_ASR_BASE_URL', baseUrl, 'tcp'), clock, codecs })
    default:
      return null
  }
}

/** What was found of the voice pack, and the recogniser when the pack is whole. */
export interface LocalRecognition extends PackFinding {
  /** Whether the operator asked for it by name, or it is used because it is there. */
  readonly wanted: boolean
  readonly asr: SherpaAsr | null
}

/** Looks for the pack beside the data and beside the executable, as for eSpeak NG. */
function openLocalRecognition(
  config: Config,
  codecs: AudioCodecs,
  { clock, log, asrWorker }: SpeechNeeds,
): LocalRecognition {
  const { pack, folder, exists, missing } = findVoicePack({
    folders: packFolders(config),
    platform: `${process.platform}-${process.arch}`,
    modelName: config.MB_ASR_MODEL,
  })
  const wanted = config.MB_ASR_KIND === 'local'
  if (pack === null) {
    if (wanted || exists) log.warn('voice pack incomplete', { folder, missing: missing.join('; ') })
    return { pack, folder, exists, missing, wanted, asr: null }
  }
  const command = { argv: [...asrWorker, JSON.stringify(pack)] }
  const asr = createSherpaAsr({ command, clock, log, codecs })
  return { pack, folder, exists, missing, wanted, asr }
}

const packFolders = (config: Config) => [config.MB_DATA_DIR, dirname(process.execPath)]

interface VadNeeds {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly runtime: NativeRuntime
  readonly vadWorker: readonly string[]
}

/** The voice detector of the voice pack; null when there is none. */
export function openVad({ config, clock, log, runtime, vadWorker }: VadNeeds): LocalVad | null {
  const file = findVad(packFolders(config))
  if (file === null) return null
  const command = { argv: [...vadWorker, file], env: onnxEnv(runtime) }
  return createLocalVad({ command, clock, log })
}

/** Searched besides PATH, which a system service may not have. */
const PROGRAM_FOLDERS = '/usr/local/bin:/usr/bin:/bin'

const installed = (name: string) => Bun.which(name) ?? Bun.which(name, { PATH: PROGRAM_FOLDERS })

const asrKind = (config: Config) => config.MB_ASR_KIND ?? kindOf(config.MB_ASR_BASE_URL) ?? 'local'

/** The kind that a base URL alone implies. */
function kindOf(baseUrl: string | undefined): 'openai' | 'wyoming' | undefined {
  if (baseUrl === undefined) return undefined
  return baseUrl.startsWith('tcp:') ? 'wyoming' : 'openai'
}

function needed(name: string, url: string | undefined, scheme: 'http' | 'tcp'): string {
  if (url?.startsWith(scheme)) return url
  const example = scheme === 'tcp' ? 'tcp://host:port' : 'http://host/v1'
  throw new ConfigError(`${name} must be a URL such as ${example} for this kind of voice`, name)
}

interface VoiceNeeds {
  readonly speech: Speech
  readonly agent: Agent
  readonly admission: Pick<Admission, 'admit'>
  readonly clock: Clock
  readonly log: Logger
  readonly contexts: RequestContexts
  readonly record: (request: LoggedRequest) => unknown
  readonly openTurns: VoiceRouteOptions['openTurns']
}

/** Wires the services behind the voice routes. */
export function openVoice(needs: VoiceNeeds): VoiceRouteOptions {
  const { speech, agent, admission, clock, log, contexts, record, openTurns } = needs
  const { tts, hearing, codecs } = speech
  const voice = createVoice({ tts, hearing, codecs, log })
  const checkBudget = async (principal: Principal) => (await admission.admit(principal, 0))()
  return {
    voice,
    loop: createVoiceLoop({ voice, agent, checkBudget, clock }),
    contexts,
    openTurns,
    onStage(request, stage) {
      const known = contexts.of(request)
      // Only requests with a valid key are logged.
      if (known?.principal?.keyId && stage.status !== 401)
        record(rowOfStep(known, stage, clock.now()))
    },
  }
}
