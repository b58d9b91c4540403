import { version } from '../../package.json'
import { listenWyoming } from '../channels/wyoming/server.ts'
import { ConfigError } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { newId } from '../core/crypto.ts'
import { appError } from '../core/errors.ts'
import { createWyomingHandler } from '../doors/wyoming/handler.ts'
import type { WyomingCaller, WyomingRow } from '../doors/wyoming/requests.ts'
import type { OpenTurns } from '../features/agent/open-turns.ts'
import type { Agent } from '../features/agent/service.ts'
import type { Keys } from '../features/keys/service.ts'
import type { Voice } from '../features/voice/service.ts'
import { replyOf } from '../features/voice/voice-turn.ts'
import { type CallOptions, createCalls } from '../http/gate.ts'
import type { LoggedRequest } from '../http/observe.ts'
import { createSentences } from '../speech/sentences.ts'
import { speakable } from '../speech/speech-text.ts'
import { speakSentence } from '../speech/spoken-turn.ts'
import type { WyomingServer } from '../upstream/ports/wyoming.ts'
import type { Adapters } from './adapters.ts'

export interface WyomingParts extends Pick<Adapters, 'config' | 'clock' | 'log' | 'speech'> {
  readonly keys: Keys
  readonly calls: CallOptions
  readonly agent: Agent
  readonly openTurns: OpenTurns
  readonly voice: Voice
  readonly record: (request: LoggedRequest) => void
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/

/** The Wyoming server for Home Assistant; null unless it is configured. */
export function openWyoming(parts: WyomingParts) {
  const { config, clock, log, speech, keys, calls, agent, openTurns, voice, record } = parts
  const { MB_WYOMING_PORT: port, MB_WYOMING_KEY: key, MB_HOST: host } = config
  if (port === undefined || key === undefined) return null

  const call = createCalls(calls)

  async function caller(): Promise<WyomingCaller | null> {
    const known = await keys.find(key ?? '')
    if (!known) return null
    const { principal } = known
    return { principal, take: () => call(known, principal, true) }
  }

  const wav = (samples: Uint8Array, rate: number) =>
    speech.codecs.wav(new Int16Array(samples.slice().buffer), rate)

  const open = createWyomingHandler({
    ...{ caller, agent, openTurns, voice, wav, clock, log, version },
    ...{ replyOf, speakable, createSentences, speakSentence },
    record: (row) => record(loggedRow(row, clock)),
  })

  return {
    /**
     * Listens; adds a line for the start banner. Throws `ConfigError` where the address is taken.
     */
    async listen(): Promise<WyomingServer & { readonly description: string }> {
      const { message: text, code } = appError('too_many_connections')
      const server = await listenWyoming({ host, port, open, full: { text, code } }).catch(
        (error: NodeJS.ErrnoException) => {
          throw new ConfigError(`MB_WYOMING_PORT ${port} cannot be used on ${host}: ${error.code}`)
        },
      )
      log.info('wyoming listens', { host, port: server.port })
      // Wyoming has no login: every client that reaches the port acts with this key.
      const isOpen = !LOOPBACK.test(host)
      if (isOpen) log.warn('wyoming is open to the network', { host })
      const isKnown = (await caller()) !== null
      if (!isKnown) log.warn('wyoming key is unknown or revoked', { setting: 'MB_WYOMING_KEY' })
      const notes = [isOpen && 'open to the network', !isKnown && 'its key is unknown or revoked']
      const description = [`${host}:${server.port}`, ...notes].filter(Boolean).join(', ')
      return { ...server, description }
    },
  }
}

function loggedRow(row: WyomingRow, clock: Clock): LoggedRequest {
  const { sessionId = null, textChars = null, channel = null, latencyMs } = row
  return {
    ...row,
    ...{ sessionId, textChars, channel, later: null, ended: null, endpoint: '/wyoming' },
    ...{ requestId: newId(), startedAt: clock.steady() - latencyMs, ts: clock.now() },
  }
}
