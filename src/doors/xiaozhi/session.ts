import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import { AGENT_TEXT_CHARS_MAX } from '../../core/limits/contract.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { MemoryBudget } from '../../core/memory-budget.ts'
import type { Principal } from '../../core/principal.ts'
import { firstChars } from '../../core/text.ts'
import type { LoopTurns } from '../../core/time-slice.ts'
import type { Stage } from '../../speech/stages.ts'
import type { PacketDecoder } from '../../upstream/ports/speech.ts'
import { createDeviceTools, type DeviceTools } from './device-tools.ts'
import { Listener } from './listener.ts'
import {
  type BoardMessage,
  FRAME_MS,
  type FrameVersion,
  frameVersion,
  type Hello,
  helloAnswer,
  type ListenMode,
  readFrame,
  readMessage,
  type ServerMessage,
  writeFrame,
} from './messages.ts'
import { createFrameLimit, createSoundLimit } from './sound-limit.ts'
import type { SpeechDetector } from './speech-detector.ts'
import { createPlaybackPacer, type PlaybackPacer } from './speech-player.ts'
import type { BoardTurn, BoardTurns, TurnInput } from './turn.ts'

/** The functions of a board's socket that a session uses. */
export interface Wire {
  sendText(text: string): void
  sendBinary(bytes: Uint8Array): void
  close(code: number, reason: string): void
}

export interface SessionOptions {
  readonly turns: BoardTurns
  readonly detector: () => SpeechDetector
  readonly clock: Clock
  readonly log: Logger
  readonly budget: MemoryBudget
  /** Decoding sound is work of the event loop: tenants take turns at it, a packet at a time. */
  readonly loopTurns: LoopTurns
  readonly noteSeen: (tenantId: string, deviceId: string) => void
}

/** The board behind a socket. */
export interface Caller {
  readonly principal: Principal
  /** The header `Protocol-Version`. */
  readonly version: string | null
  /** Counts a turn to the key, as it is now. */
  readonly admit: () => Promise<Principal>
  readonly onStage: (stage: Stage) => void
  /** The session releases it. */
  readonly decoder: PacketDecoder
}

const HELLO_MS_MAX = 10_000
/** A detected text is a wake word when the board listens within this time after it. */
const WAKE_WORD_MS = 1_000
/** The last control message of a flood is handled after this time. */
const LATE_MS = 100
const CONTROL_CHARS_MAX = 1_000
const PROTOCOL_ERROR = 1002

/** One socket of a board, from its hello to its end. */
export class BoardSession {
  readonly #listener: Listener
  readonly #tools: DeviceTools
  readonly #pacer: PlaybackPacer
  readonly #allowsSound: (packet: Uint8Array) => boolean
  readonly #allowsText: () => boolean
  #version: FrameVersion = 1
  #isGreeted = false
  #isClosed = false
  #isSpeaking = false
  /** Ends the turn that runs. */
  #turn: AbortController | null = null
  #cancelHello: () => void
  #cancelWake = () => {}
  /** A question waits for what tells whether it is one. */
  #isAsked = false
  /** The last message of a flood, to be handled after `LATE_MS`. */
  #late: BoardMessage | null = null
  #cancelLate = () => {}

  constructor(
    private readonly options: SessionOptions,
    private readonly caller: Caller,
    private readonly wire: Wire,
  ) {
    const { clock, detector, budget } = options
    this.#pacer = createPlaybackPacer(clock)
    this.#allowsSound = createSoundLimit(clock)
    this.#allowsText = createFrameLimit(clock)
    const send = (payload: object) => this.#send({ type: 'mcp', payload })
    this.#tools = createDeviceTools({ clock, send })
    this.#listener = new Listener({
      clock,
      decoder: caller.decoder,
      detector: detector(),
      share: budget.open(caller.principal.tenantId),
      inTurn: (work) => options.loopTurns(caller.principal.tenantId, async () => work()),
      onSpeech: () => this.#interrupt(),
      onEnd: (samples) => this.#answer({ samples }),
    })
    this.#cancelHello = clock.after(HELLO_MS_MAX, () => wire.close(PROTOCOL_ERROR, 'no hello'))
  }

  /**
   * Drops texts beyond the rate, except the last message about listening: a board that has sent
   * "stop" waits for its answer.
   */
  onText(text: string): void {
    const isAllowed = this.#allowsText()
    if (!isAllowed && text.length > CONTROL_CHARS_MAX) return
    const message = readMessage(text)
    const isControl = message?.type === 'listen' || message?.type === 'abort'
    if (isControl && (!isAllowed || this.#late)) this.#hold(message)
    else if (isAllowed) this.#receive(message)
  }

  #hold(message: BoardMessage): void {
    const isFirst = this.#late === null
    this.#late = message
    if (!isFirst) return
    this.#cancelLate = this.options.clock.after(LATE_MS, () => {
      const last = this.#late
      this.#late = null
      this.#receive(last)
    })
  }

  #receive(message: BoardMessage | null): void {
    if (message?.type === 'hello') this.#greet(message)
    else if (!this.#isGreeted) this.wire.close(PROTOCOL_ERROR, 'no hello')
    else if (message?.type === 'abort') this.#abort()
    else if (message?.type === 'mcp') this.#tools.receive(message.payload)
    else if (message?.state === 'start') this.#listen(message.mode)
    else if (message?.state === 'stop') this.#listener.stop()
    else if (message?.state === 'detect') this.#detected(message.text)
  }

  onBinary(bytes: Uint8Array): void {
    if (!this.#isGreeted) return
    const frame = readFrame(this.#version, bytes)
    if (frame?.type === 'json') this.onText(new TextDecoder().decode(frame.payload))
    else if (frame && this.#allowsSound(frame.payload)) this.#listener.push(frame.payload)
  }

  /** To be called once, when the socket is closed. */
  close(): void {
    this.#isClosed = true
    this.#cancelHello()
    this.#cancelWake()
    this.#cancelLate()
    this.#interrupt()
    this.#tools.close()
    this.#listener.close()
  }

  #send(message: ServerMessage): void {
    if (this.#isClosed) return
    if (message.type === 'tts') this.#isSpeaking = message.state !== 'stop'
    const session_id = sessionOf(this.caller.principal)
    this.wire.sendText(JSON.stringify({ ...message, session_id }))
  }

  #greet(hello: Hello): void {
    const { noteSeen, log } = this.options
    const { tenantId, deviceId } = this.caller.principal
    this.#cancelHello()
    this.#version = frameVersion(hello, this.caller.version)
    this.#send(helloAnswer)
    if (this.#isGreeted) return
    this.#isGreeted = true
    if (deviceId !== null) noteSeen(tenantId, deviceId)
    if (!hello.features?.mcp) return
    this.#tools
      .list()
      .catch((error) => log.error('tools of a board not listed', errorFields(error)))
  }

  #listen(mode: ListenMode): void {
    this.#cancelWake()
    this.#interrupt()
    this.#listener.begin(mode)
  }

  /** A wake word or a typed question; the next `WAKE_WORD_MS` tell which. */
  #detected(text: string): void {
    this.#cancelWake()
    const question = firstChars(text.trim(), AGENT_TEXT_CHARS_MAX)
    if (question === '') return
    const cancel = this.options.clock.after(WAKE_WORD_MS, () => {
      this.#isAsked = false
      this.#answer({ text: question })
    })
    this.#isAsked = true
    this.#cancelWake = () => {
      this.#isAsked = false
      cancel()
    }
  }

  /** Reports the end of speech even when none has begun, because the board waits for it. */
  #abort(): void {
    this.#cancelWake()
    this.#listener.abort()
    const wasSpeaking = this.#isSpeaking
    this.#interrupt()
    if (!wasSpeaking) this.#send({ type: 'tts', state: 'stop' })
  }

  #interrupt(): void {
    this.#turn?.abort(new Error('interrupted'))
    this.#turn = null
  }

  /** Whether nobody speaks to the board, and it is not answered. */
  get isIdle(): boolean {
    const isBusy = this.#turn !== null || this.#isAsked || this.#listener.hears
    return this.#isGreeted && !this.#isClosed && !isBusy
  }

  /**
   * Speaks texts by itself; whoever speaks meanwhile interrupts it. `onUnheard` gets the number of
   * texts that were begun, where that is not all.
   */
  say(texts: readonly string[], onUnheard: (begun: number) => void): void {
    if (!this.isIdle) {
      onUnheard(0)
      return
    }
    const { turns } = this.options
    this.#begin(async (turn) => {
      let begun = 0
      try {
        begun = await turns.say(this.caller.principal, turn, texts)
      } finally {
        if (begun < texts.length) onUnheard(begun)
      }
    })
  }

  #answer(input: TurnInput): void {
    const { turns } = this.options
    this.#begin((turn) => turns.run(this.caller.principal, turn, input))
  }

  /** Ends what runs, and begins a turn in its place. */
  #begin(run: (turn: BoardTurn) => Promise<void>): void {
    this.#interrupt()
    const { log } = this.options
    const { principal, admit, onStage } = this.caller
    const turn = new AbortController()
    this.#turn = turn
    let sent = 0
    const work = run({
      admit,
      onStage,
      sessionId: sessionOf(principal),
      pacer: this.#pacer,
      tools: this.#tools.tools,
      sendMessage: (message) => this.#send(message),
      sendPacket: (packet) => {
        const at = FRAME_MS * sent++
        if (!this.#isClosed) this.wire.sendBinary(writeFrame(this.#version, packet, at))
      },
      signal: turn.signal,
    })
    work
      .catch((error: unknown) => {
        if (error instanceof AppError) this.wire.close(1008, 'revoked')
        else log.error('turn of a board failed', errorFields(error))
      })
      .finally(() => {
        if (this.#turn === turn) this.#turn = null
      })
  }
}

/** The session id of a device. */
export const sessionOf = ({ deviceId }: Principal): string => `dev-${deviceId}`
