import type { Clock } from '../../core/clock.ts'
import { AppError, appError } from '../../core/errors.ts'
import { AGENT_TEXT_CHARS_MAX } from '../../core/limits/contract.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import { charCount, firstChars } from '../../core/text.ts'
import type { Agent } from '../../features/agent/service.ts'
import type { Notices } from '../../features/runs/notices.ts'
import type { Voice } from '../../features/voice/service.ts'
import { createSentences } from '../../speech/sentences.ts'
import {
  type Speak,
  type SpokenSentence,
  speakSentence,
  speakTurn,
  type TurnEnd,
} from '../../speech/spoken-turn.ts'
import { outcomeOf, type Stage, stopwatch } from '../../speech/stages.ts'
import type { Tool } from '../../tools/tool.ts'
import {
  type AudioCodecs,
  DEFAULT_VOICE,
  OPENAI_SPEECH_RATE,
  RECOGNISER_RATE,
} from '../../upstream/ports/speech.ts'
import type { ServerMessage } from './messages.ts'
import { createSpeechPlayer, type PlaybackPacer, type SpeechPlayer } from './speech-player.ts'
import { createSpeechStage, type SpeechStage } from './speech-stage.ts'

export interface BoardTurnOptions {
  readonly agent: Pick<Agent, 'openTurn'>
  readonly voice: Pick<Voice, 'transcribe' | 'stream'>
  readonly codecs: Pick<AudioCodecs, 'wav'>
  readonly clock: Clock
  readonly log: Logger
  /** What a device is told before its next answer. */
  readonly notices: Pick<Notices, 'forDevices' | 'giveBack'>
}

/** The parts of its socket that a turn needs. */
export interface BoardTurn {
  /** Counts the turn to its key. Throws `rate_limited`, `budget_spent` or `invalid_key`. */
  readonly admit: () => Promise<Principal>
  readonly sessionId: string
  /** The board's own tools. */
  readonly tools: () => readonly Tool[]
  readonly pacer: PlaybackPacer
  readonly sendMessage: (message: ServerMessage) => void
  readonly sendPacket: (packet: Uint8Array) => void
  readonly onStage: (stage: Stage) => void
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal
}

/** The input of a turn: sound, 16 kHz mono, or text. */
export type TurnInput = { readonly samples: Int16Array } | { readonly text: string }

/**
 * Runs turns of boards: recognises, answers, and speaks sentence by sentence while the model still
 * writes. After any failure the board gets a short sentence, and always the end of a speech that
 * has begun. An aborted turn only ends its speech.
 */
export class BoardTurns {
  constructor(private readonly options: BoardTurnOptions) {}

  /** Rejects with `invalid_key` when the key is not valid any more. */
  run(principal: Principal, turn: BoardTurn, input: TurnInput): Promise<void> {
    return this.#speaking(turn, async (saying) => {
      try {
        await this.#converse(principal, turn, input, saying)
      } catch (error) {
        if (error instanceof AppError && error.code === 'invalid_key') throw error
        if (!turn.signal.aborted) await this.#explain(error, principal, turn, saying)
      }
    })
  }

  /** Speaks texts that nobody asked for. Returns how many of them were begun. */
  say({ tenantId }: Principal, turn: BoardTurn, texts: readonly string[]): Promise<number> {
    return this.#speaking(turn, (saying) => this.#tell(tenantId, texts, turn, saying))
  }

  async #converse(principal: Principal, turn: BoardTurn, input: TurnInput, saying: Saying) {
    // A typed question is shown even when the turn is refused.
    if ('text' in input) turn.sendMessage({ type: 'stt', text: input.text })
    await this.#admit(input, turn)
    const text = firstChars(await this.#hear(principal, input, turn), AGENT_TEXT_CHARS_MAX)
    turn.signal.throwIfAborted()
    if (!('text' in input)) turn.sendMessage({ type: 'stt', text })
    saying.player.open()
    await this.#tellWaiting(principal, turn, saying)
    await this.#answer(principal, text, turn, saying)
  }

  /** Runs what speaks; resolves once all of it was played, or when the turn is aborted. */
  async #speaking<Result>(
    turn: BoardTurn,
    work: (saying: Saying) => Promise<Result>,
  ): Promise<Result> {
    const { pacer, signal } = turn
    const stage = createSpeechStage(this.options, turn.onStage)
    const player = createSpeechPlayer({ ...turn, onSound: stage.sounded })
    const onAbort = () => {
      pacer.stop()
      player.close()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await work({ player, stage })
    } finally {
      stage.end()
      await pacer.played(signal).catch(() => {})
      signal.removeEventListener('abort', onAbort)
      player.close()
    }
  }

  /** Tells what waits for the board; what an interruption kept from being heard waits on. */
  async #tellWaiting({ tenantId, deviceId }: Principal, turn: BoardTurn, saying: Saying) {
    const { notices } = this.options
    const waiting = await notices.forDevices(tenantId, [deviceId ?? ''])
    const texts = waiting.map(({ text }) => text)
    const begun = await this.#tell(tenantId, texts, turn, saying)
    await notices.giveBack(waiting.slice(begun))
  }

  /** Speaks texts; one that cannot be spoken is shown. Returns how many of them were begun. */
  async #tell(
    tenantId: string,
    texts: readonly string[],
    { signal, sendMessage }: BoardTurn,
    { player, stage }: Saying,
  ): Promise<number> {
    const aloud = this.#speakFor(tenantId)
    for (const [place, text] of texts.entries()) {
      if (signal.aborted) return place
      player.open()
      const before = stage.sounds()
      for (const sentence of sentencesOf(text)) {
        stage.asked(sentence)
        const failure = await player.say(speakSentence(aloud, sentence, signal)).then(
          () => null,
          (failure: unknown) => failure,
        )
        if (signal.aborted) return stage.sounds() > before ? place + 1 : place
        if (failure === null) continue
        stage.failed(failure)
        sendMessage({ type: 'tts', state: 'sentence_start', text: sentence })
      }
    }
    return texts.length
  }

  #speakFor(tenantId: string): Speak {
    const output = { format: 'packets', rate: OPENAI_SPEECH_RATE } as const
    return (text, signal) =>
      this.options.voice.stream({ text, voice: DEFAULT_VOICE, tenantId }, output, signal)
  }

  /** Admits the turn; a refusal gets a row in the request log, as that of a request does. */
  async #admit(input: TurnInput, { admit, onStage, sessionId }: BoardTurn): Promise<void> {
    const { clock } = this.options
    const startedAt = clock.steady()
    try {
      await admit()
    } catch (error) {
      const latencyMs = Math.round(clock.steady() - startedAt)
      const textChars = 'text' in input ? charCount(input.text) : null
      const row = { ...outcomeOf(error), latencyMs, textChars, sessionId, channel: null }
      onStage({ endpoint: '/v1/agent', ...row })
      throw error
    }
  }

  async #hear({ tenantId }: Principal, input: TurnInput, turn: BoardTurn): Promise<string> {
    if ('text' in input) return input.text
    // The button was released at once; recognisers refuse a file without sound.
    if (input.samples.length === 0) throw appError('speech_not_understood')
    const { voice, codecs, clock } = this.options
    const timed = stopwatch(clock, turn.onStage)
    const text = await timed('/v1/asr', async (note) => {
      const clip = { bytes: codecs.wav(input.samples, RECOGNISER_RATE), tenantId }
      const heard = await voice.transcribe(clip, turn.signal)
      note({ textChars: charCount(heard.text) })
      return heard.text
    })
    if (text === '') throw appError('speech_not_understood')
    return text
  }

  /** Throws the first failure of model or speech, after everything before it was sent. */
  async #answer(principal: Principal, text: string, turn: BoardTurn, { player, stage }: Saying) {
    const { sessionId, tools, signal, onStage } = turn
    const ended = Promise.withResolvers<TurnEnd>()
    const door = 'xiaozhi' as const
    const request = { text, images: [], kb: true, ownTools: tools(), door }
    const { agent, clock } = this.options
    const timed = stopwatch(clock, onStage)
    const opening = agent.openTurn(principal, request, sessionId)
    const written = timed('/v1/agent', async (note) => {
      note({ sessionId, textChars: charCount(text) })
      const turn = await opening
      const { failure } = await ended.promise
      // Another channel than the first may have answered.
      note({ channel: turn.channel })
      if (failure !== null && !signal.aborted) throw failure
    })
    written.catch(() => {})
    const opened = await opening
    const aloud = this.#speakFor(principal.tenantId)
    let failure: unknown = null
    const speak = (sentence: string) => {
      stage.asked(sentence)
      // After a failure the rest is only shown, without sound.
      return failure === null ? speakSentence(aloud, sentence, signal) : silence(sentence, failure)
    }
    try {
      const spoken = { turn: opened, question: text, speak, signal, onEnd: ended.resolve }
      for await (const sentence of speakTurn(spoken)) {
        await player.say(sentence).catch((error: unknown) => {
          if (!signal.aborted) failure ??= error
        })
        signal.throwIfAborted()
      }
    } finally {
      stage.failed(failure)
    }
    await written
    if (failure !== null) throw failure
  }

  /** Sends a sentence about the failure; speaks it unless speech itself failed. */
  async #explain(error: unknown, { tenantId }: Principal, turn: BoardTurn, saying: Saying) {
    const { player, stage } = saying
    if (!(error instanceof AppError)) {
      this.options.log.error('turn of a board failed', errorFields(error))
    }
    const told = error instanceof AppError ? error : appError('turn_failed')
    player.open()
    if (!told.code.startsWith('tts_')) {
      const aloud = this.#speakFor(tenantId)
      stage.asked(told.message)
      const failure = await player.say(speakSentence(aloud, told.message, turn.signal)).then(
        () => null,
        (failure: unknown) => failure,
      )
      if (failure === null || turn.signal.aborted) return
      stage.failed(failure)
    }
    turn.sendMessage({ type: 'alert', status: '出错了', message: told.message, emotion: 'sad' })
  }
}

function sentencesOf(text: string): string[] {
  const sentences = createSentences()
  return [...sentences.push(text), ...sentences.finish()]
}

interface Saying {
  readonly player: SpeechPlayer
  readonly stage: SpeechStage
}

/** A sentence that is shown and not spoken. */
function silence(text: string, failure: unknown): SpokenSentence {
  const sound = Promise.reject(failure)
  sound.catch(() => {})
  return { text, sound }
}
