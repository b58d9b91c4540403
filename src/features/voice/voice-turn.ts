import type { Clock } from '../../core/clock.ts'
import type { ErrorClass } from '../../core/error-table.ts'
import { AppError, appError, type ErrorCode } from '../../core/errors.ts'
import { AGENT_TEXT_CHARS_MAX, TTS_TEXT_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { charCount, firstChars } from '../../core/text.ts'
import { speakable } from '../../speech/speech-text.ts'
import type { Agent, OpenedTurn } from '../agent/service.ts'
import type { VoiceRequest } from './model.ts'
import type { Voice } from './service.ts'

/** One step of a voice loop, for the request log. */
export interface Stage {
  readonly endpoint: '/v1/asr' | '/v1/agent' | '/v1/tts'
  readonly status: number
  readonly errorClass: ErrorClass | null
  readonly latencyMs: number
  readonly textChars: number | null
  readonly sessionId: string | null
  readonly channel: 'byo' | 'platform' | null
}

export interface VoiceLoopOptions {
  readonly voice: Pick<Voice, 'speak' | 'transcribe'>
  readonly agent: Pick<Agent, 'openTurn'>
  readonly clock: Clock
}

export interface VoiceTurn {
  readonly principal: Principal
  readonly audio: Uint8Array
  readonly sessionId: string
  readonly request: Omit<VoiceRequest, 'audio_b64' | 'session_id'>
}

export interface VoiceAnswer {
  readonly heard: string
  readonly reply: string
  /** The parts of an mp3; null when speech synthesis failed or the reply has nothing to say. */
  readonly mp3: readonly Uint8Array[] | null
}

/** Characters of a reply that are read, as a multiple of those that are spoken. */
const WRITTEN_PER_SPOKEN = 4

/**
 * The voice loop: recognition, one agent turn, synthesis. A failure of recognition or agent is a
 * 502; when synthesis fails the reply is text alone.
 */
export function createVoiceLoop({ voice, agent, clock }: VoiceLoopOptions) {
  return {
    async answerVoice(
      { principal, audio, sessionId, request }: VoiceTurn,
      signal: AbortSignal,
      onStage: (stage: Stage) => void,
    ): Promise<VoiceAnswer> {
      const timed = stopwatch(clock, onStage)
      const heard = await timed('/v1/asr', async (note) => {
        const clip = { bytes: audio, tenantId: principal.tenantId }
        const { text } = await voice.transcribe(clip, signal).catch((error: unknown) => {
          throw asRepeatRequest(error)
        })
        note({ textChars: charCount(text) })
        if (text === '') throw appError('speech_not_understood')
        return firstChars(text, AGENT_TEXT_CHARS_MAX)
      })
      const reply = await timed('/v1/agent', async (note) => {
        const { kb, persona_id } = request
        const input = { text: heard, images: [], kb, persona_id }
        note({ sessionId, textChars: charCount(heard) })
        const turn = await agent.openTurn(principal, input, sessionId)
        try {
          return await replyOf(turn, signal)
        } finally {
          note({ channel: turn.channel })
        }
      })
      const start = firstChars(reply, TTS_TEXT_CHARS_MAX * WRITTEN_PER_SPOKEN)
      const text = speakable(start, TTS_TEXT_CHARS_MAX)
      const mp3 = await timed('/v1/tts', async (note) => {
        note({ textChars: charCount(text) })
        if (text === '') return null
        return voice.speak({ text, voice: request.voice, tenantId: principal.tenantId }, signal)
      }).catch((error: unknown) => {
        if (signal.aborted) throw error
        return null
      })
      return { heard, reply, mp3 }
    },
  }
}

export type VoiceLoop = ReturnType<typeof createVoiceLoop>

type Note = (more: Partial<Stage>) => void

/** Status and error class of a step in the request log; null is a step without an error. */
export function outcomeOf(error: unknown): Pick<Stage, 'status' | 'errorClass'> {
  if (error === null) return { status: 200, errorClass: null }
  if (!(error instanceof AppError)) return { status: 500, errorClass: 'internal' }
  return { status: error.status, errorClass: error.errorClass }
}

/** Measures a step and reports its outcome. */
export function stopwatch(clock: Clock, onStage: (stage: Stage) => void) {
  return async <T>(endpoint: Stage['endpoint'], work: (note: Note) => Promise<T>): Promise<T> => {
    const startedAt = clock.steady()
    let stage: Omit<Stage, 'endpoint' | 'latencyMs'> = {
      ...outcomeOf(null),
      textChars: null,
      sessionId: null,
      channel: null,
    }
    try {
      return await work((more) => {
        stage = { ...stage, ...more }
      })
    } catch (error) {
      stage = { ...stage, ...outcomeOf(error) }
      throw error
    } finally {
      const latencyMs = Math.round(clock.steady() - startedAt)
      onStage({ ...stage, endpoint, latencyMs })
    }
  }
}

/** Keeps the 413 of a recording that is too long; any other failure asks the person to repeat. */
const asRepeatRequest = (error: unknown): unknown =>
  error instanceof AppError && error.errorClass === 'upstream'
    ? appError('speech_not_understood', {}, { cause: error })
    : error

/**
 * Runs a turn to its end and returns the reply. An `error` event becomes a 502 with its code and
 * sentence, except for a key that was revoked meanwhile, which is a 401.
 */
export async function replyOf(turn: OpenedTurn, signal: AbortSignal): Promise<string> {
  let reply: string | null = null
  let failure: ErrorCode | null = null
  await turn.run(signal, (events) => {
    for (const event of events) {
      if (event.type === 'error') failure = event.code
      if (event.type === 'llm_end') reply = event.reply
    }
    return undefined
  })
  if (failure === 'invalid_key') throw appError(failure)
  if (failure !== null) throw new AppError(failure, {}, { status: 502 })
  if (reply === null) throw appError('turn_unavailable')
  return reply
}
