import type { Clock } from '../../core/clock.ts'
import { AppError, appError } from '../../core/errors.ts'
import { AGENT_TEXT_CHARS_MAX, TTS_TEXT_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { charCount, firstChars } from '../../core/text.ts'
import { speakable } from '../../speech/speech-text.ts'
import { replyOf } from '../../speech/spoken-turn.ts'
import { type Stage, stopwatch } from '../../speech/stages.ts'
import type { Agent } from '../agent/service.ts'
import type { VoiceRequest } from './model.ts'
import type { Voice } from './service.ts'

export interface VoiceLoopOptions {
  readonly voice: Pick<Voice, 'speak' | 'transcribe'>
  readonly agent: Pick<Agent, 'openTurn'>
  /** Throws `budget_spent` where a turn would, so that no speech is recognised for nothing. */
  readonly checkBudget: (principal: Principal) => Promise<void>
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
export function createVoiceLoop({ voice, agent, checkBudget, clock }: VoiceLoopOptions) {
  return {
    async answerVoice(
      { principal, audio, sessionId, request }: VoiceTurn,
      signal: AbortSignal,
      onStage: (stage: Stage) => void,
    ): Promise<VoiceAnswer> {
      await checkBudget(principal)
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
        const { kb, persona_id, subject } = request
        const said = { text: heard, images: [], kb, persona_id, subject }
        const input = { ...said, door: 'voice' as const }
        note({ sessionId, textChars: charCount(heard) })
        const turn = await agent.openTurn(principal, input, sessionId)
        try {
          return await replyOf(turn, signal)
        } finally {
          note({ channel: turn.channel })
        }
      })
      const start = firstChars(reply, TTS_TEXT_CHARS_MAX * WRITTEN_PER_SPOKEN)
      const text = speakable(start, TTS_TEXT_CHARS_MAX, heard)
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

/** Keeps the 413 of a recording that is too long; any other failure asks the person to repeat. */
const asRepeatRequest = (error: unknown): unknown =>
  error instanceof AppError && error.errorClass === 'upstream'
    ? appError('speech_not_understood', {}, { cause: error })
    : error
