import { orAborted } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import { once } from '../../core/once.ts'
import type { Endpoint, UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'

/** A started program that serves a model. */
export interface ModelProcess {
  /** On loopback. */
  readonly port: number
  kill(): void
  readonly exited: Promise<ModelEnd>
}

export interface ModelEnd {
  /** The line in which it says why it did not start; later lines might quote a prompt. */
  readonly line: string
  /** Its exit code, or the signal that ended it: `SIGKILL` often means that memory ran out. */
  readonly status: number | string
}

export interface LlamaServerOptions {
  /** For people. */
  readonly name: string
  readonly apiKey: string
  /** Each start gets a new port: another program may have taken the previous one. */
  readonly start: () => ModelProcess
  readonly fetch: UpstreamFetch
  readonly clock: Clock
  readonly log: Logger
  /** Without a request for this long the program is ended; 0: never. */
  readonly idleMs: number
}

const POLL_MS = 250
const HEALTH_MS_MAX = 5_000
/** Enough to load a large model from a slow disk; a program that takes longer hangs. */
const LOAD_MS_MAX = 10 * 60_000
/** When open requests receive nothing for this long, the program is asked whether it is healthy. */
const QUIET_MS = 10_000
/** It answers that even while it computes; after this many unanswered questions it hangs. */
const SILENCES_MAX = 3
const RESTART_MS = 1_000
const RESTART_MS_MAX = 60_000
/** After this many failed starts in a row a request no longer waits for the next one. */
const FAILURES_WAITED_FOR = 3

export type ModelState = 'loading' | 'ready' | 'standby' | 'failed'

/**
 * Supervises one program that serves a model on a loopback port: starts it, waits until it is
 * healthy, starts it again when it has ended (after 1 s, 2 s … 60 s), and ends it when it is idle.
 * A request waits until the model is loaded; when the program ends, only running requests fail. A
 * program that hangs is ended: one that is not healthy after ten minutes, or that answers neither a
 * request nor the question whether it is healthy.
 */
export class LlamaServer {
  readonly name: string
  /** Only for `fetch` below, which replaces it with the address of the running program. */
  readonly endpoint: Endpoint
  /** As `fetch`, to the program, once it is ready. */
  readonly fetch: UpstreamFetch
  readonly #options: LlamaServerOptions
  #state: ModelState = 'standby'
  /** How often the program has ended since it was last healthy. */
  #failures = 0
  /** Requests whose answers are being read. */
  #open = 0
  /** The program that `#watch` checks while requests are open. */
  #watched: ModelProcess | null = null
  /** Whether an answer has brought bytes since the last check. */
  #isHeard = false
  #closed = false
  #process: ModelProcess | null = null
  /** Settles when the program that is starting is healthy, or has ended. */
  #ready: Promise<void> = Promise.resolve()
  #cancelIdle = () => {}
  #cancelWatch = () => {}
  #cancelRestart = () => {}

  constructor(options: LlamaServerOptions) {
    this.#options = options
    this.name = options.name
    this.endpoint = { baseUrl: 'http://model-pack/v1', apiKey: options.apiKey }
    const ask = (url: string, init: RequestInit) => this.#ask(url, init)
    this.fetch = Object.assign(ask, { unpacks: false } as const)
  }

  get state(): ModelState {
    return this.#state
  }

  /** Loads the model before the first request, unless it is loaded. */
  warm(): void {
    if (this.#state === 'standby' && !this.#closed) this.#start()
  }

  /** Ends the program until the next request, unless requests are running. */
  rest(): void {
    if (this.#open > 0) return
    this.#cancelRestart()
    this.#state = 'standby'
    this.#end()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelIdle()
    this.#cancelRestart()
    const { exited } = this.#process ?? { exited: null }
    this.#end()
    await exited
  }

  async #ask(url: string, init: RequestInit): Promise<Response> {
    this.#open++
    this.#cancelIdle()
    const done = once(() => {
      this.#open--
      this.#armIdle()
    })
    try {
      await this.#awaitReady(init.signal)
      if (this.#open === 1) this.#isHeard = false
      if (this.#watched !== this.#process) this.#watch(0)
      const { pathname, search } = new URL(url)
      const response = await this.#options.fetch(this.#at(pathname + search), init)
      this.#isHeard = true
      return watched(response, { onBytes: () => (this.#isHeard = true), onEnd: done })
    } catch (error) {
      done()
      throw error
    }
  }

  /** An address of the running program. */
  #at(path: string): string {
    if (!this.#process) throw new ChannelFailure('channel_unavailable', 'the model has ended')
    return `http://127.0.0.1:${this.#process.port}${path}`
  }

  /** Resolves when the model answers. Throws `ChannelFailure`, and the reason of the signal. */
  async #awaitReady(signal: AbortSignal | null | undefined): Promise<void> {
    this.warm()
    while (this.state !== 'ready') {
      if (this.#closed || this.#failures >= FAILURES_WAITED_FOR) {
        throw new ChannelFailure('channel_unavailable', 'the model does not start')
      }
      await (signal ? orAborted(this.#ready, signal) : this.#ready)
    }
  }

  /**
   * Ends a program that hangs, even after its requests have given up. `silences` counts the health
   * checks in a row without an answer.
   */
  #watch(silences: number): void {
    const { name, clock, log } = this.#options
    const watched = this.#process
    this.#watched = watched
    this.#isHeard = false
    this.#cancelWatch()
    this.#cancelWatch = clock.after(QUIET_MS, async () => {
      const isWell = this.#isHeard || (await this.#isHealthy())
      if (this.#process !== watched) return
      if (isWell && this.#open === 0) this.#watched = null
      else if (isWell || silences + 1 < SILENCES_MAX) this.#watch(isWell ? 0 : silences + 1)
      else {
        log.warn('model hangs and is ended', { model: name })
        watched?.kill()
      }
    })
  }

  #start(): void {
    this.#cancelRestart()
    this.#state = 'loading'
    const started = this.#options.start()
    this.#process = started
    const isCurrent = () => this.#process === started
    void started.exited.then((end) => isCurrent() && this.#onEnd(end))
    this.#ready = this.#awaitHealth(isCurrent)
  }

  async #awaitHealth(isCurrent: () => boolean): Promise<void> {
    const { name, clock, log } = this.#options
    const cancel = clock.after(LOAD_MS_MAX, () => isCurrent() && this.#process?.kill())
    try {
      while (isCurrent()) {
        if (await this.#isHealthy()) {
          if (!isCurrent()) return
          this.#state = 'ready'
          this.#failures = 0
          log.info('model ready', { model: name })
          return this.#armIdle()
        }
        await clock.sleep(POLL_MS)
      }
    } finally {
      cancel()
    }
  }

  async #isHealthy(): Promise<boolean> {
    const { apiKey, clock, fetch } = this.#options
    const late = new AbortController()
    const cancel = clock.after(HEALTH_MS_MAX, () => late.abort())
    try {
      const headers = { authorization: `Bearer ${apiKey}` }
      const response = await fetch(this.#at('/health'), { headers, signal: late.signal })
      await response.body?.cancel()
      return response.ok
    } catch {
      return false
    } finally {
      cancel()
    }
  }

  #onEnd({ line, status }: ModelEnd): void {
    const { name, clock, log } = this.#options
    this.#process = null
    if (this.#closed) return
    this.#cancelIdle()
    this.#failures++
    const told = { status, ...(this.#state === 'loading' ? { line } : {}) }
    this.#state = 'failed'
    const waitMs = Math.min(RESTART_MS * 2 ** (this.#failures - 1), RESTART_MS_MAX)
    log.warn('model ended', { model: name, ...told, again_ms: waitMs })
    const restarted = Promise.withResolvers<void>()
    this.#ready = restarted.promise.then(() => this.#ready)
    const cancel = clock.after(waitMs, () => this.#start())
    this.#cancelRestart = once(() => {
      cancel()
      // Requests that wait look again, and wait no longer when the server is closed.
      this.#ready = Promise.resolve()
      restarted.resolve()
    })
  }

  #end(): void {
    const running = this.#process
    this.#cancelWatch()
    this.#process = null
    running?.kill()
  }

  #armIdle(): void {
    const { name, clock, log, idleMs } = this.#options
    this.#cancelIdle()
    if (idleMs === 0 || this.#open > 0 || this.#closed) return
    this.#cancelIdle = clock.after(idleMs, () => {
      if (this.#open > 0 || this.#state !== 'ready') return
      this.#state = 'standby'
      this.#end()
      log.info('idle model stopped', { model: name })
    })
  }
}

interface Watching {
  readonly onBytes: () => void
  /** Called when the body was read to its end, has failed or is cancelled. */
  readonly onEnd: () => void
}

/** The same answer, with calls of `onBytes` and `onEnd` while its body is read. */
function watched(response: Response, { onBytes, onEnd }: Watching): Response {
  if (!response.body) {
    onEnd()
    return response
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read()
        onBytes()
        if (!done) return controller.enqueue(value)
        onEnd()
        controller.close()
      } catch (error) {
        onEnd()
        throw error
      }
    },
    cancel(reason) {
      onEnd()
      return reader.cancel(reason)
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}
