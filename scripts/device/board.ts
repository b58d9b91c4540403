// A xiaozhi board in software: what the firmware asks at its start, and its socket.
import { createDecoder, createEncoder, type OpusEncoderHandle } from 'libopus-wasm'

/** The answer to a board that starts. */
export interface Start {
  readonly status: number
  readonly server_time: { readonly timestamp: number; readonly timezone_offset: number }
  readonly firmware: { readonly version: string; readonly url: string }
  readonly websocket: { readonly url: string; readonly token: string; readonly version?: number }
  readonly activation?: {
    readonly code: string
    readonly message: string
    readonly challenge: string
    readonly timeout_ms: number
  }
}

export interface BoardIdentity {
  readonly mac: string
  readonly clientId: string
  /** Further headers besides those of the firmware. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The requests of a board at its start; `code` is the one in the address, when there is one. */
export function createBoard(origin: string, identity: BoardIdentity) {
  const { mac, clientId } = identity
  const headers: Readonly<Record<string, string>> = {
    'device-id': mac,
    'client-id': clientId,
    'activation-version': '1',
    'user-agent': 'bread-compact-wifi/2.4.2',
    'content-type': 'application/json',
    ...identity.headers,
  }
  const body = JSON.stringify({
    version: 2,
    mac_address: mac,
    uuid: clientId,
    application: { name: 'xiaozhi', version: '2.4.2' },
    board: { type: 'bread-compact-wifi', ip: '192.168.1.9' },
  })
  const below = (code: string | null) =>
    code === null ? `${origin}/xiaozhi/` : `${origin}/xiaozhi/${code}/`
  return {
    mac,
    clientId,
    headers,
    async start(code: string | null = null, init: RequestInit = {}): Promise<Start> {
      const answer = await fetch(below(code), { method: 'POST', headers, body, ...init })
      return { ...(await answer.json()), status: answer.status }
    },
    async activate(code: string | null = null): Promise<number> {
      return (await fetch(`${below(code)}activate`, { method: 'POST', headers, body: '{}' })).status
    },
  }
}

export type Board = ReturnType<typeof createBoard>

/** A message of the server, and its time. */
export interface Heard {
  readonly at: number
  readonly type: string
  readonly state?: string
  readonly text?: string
  readonly [field: string]: unknown
}

export interface SocketOptions {
  /** The version of frames, 1 to 3. */
  readonly version?: number
  readonly frameMs?: number
  /** Whether silence is sent as packets of two bytes; true by default. */
  readonly dtx?: boolean
  /** Further fields of the hello. */
  readonly hello?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly tools?: (method: string, params: Record<string, unknown>) => object
}

interface Heading {
  readonly url: string
  readonly token: string
}

/** A socket whose hello was sent; `next('hello')` resolves with its answer. */
export async function openSocket(
  { url, token }: Heading,
  options: SocketOptions = {},
): Promise<BoardSocket> {
  const { version = 1, frameMs = 60, dtx = true } = options
  const headers = { authorization: `Bearer ${token}`, 'protocol-version': String(version) }
  const given = { headers: { ...headers, ...options.headers } }
  const encoder = await createEncoder({
    ...{ channels: 1, sampleRate: 16_000, dtx },
    frameSize: frameMs * 16,
  })
  // Opened after the encoder is ready: an `open` event before that would be missed.
  // Bun's own second argument, which the types of browsers do not know.
  const raw = new WebSocket(url, given as unknown as string[])
  raw.binaryType = 'arraybuffer'
  const socket = new BoardSocket(raw, encoder, { ...options, version, frameMs })
  const opened = Promise.withResolvers<void>()
  raw.onopen = () => opened.resolve()
  raw.onerror = () => opened.reject(new Error('the socket was refused'))
  await opened.promise
  socket.send({
    type: 'hello',
    version,
    features: options.tools ? { mcp: true } : {},
    transport: 'websocket',
    audio_params: { format: 'opus', sample_rate: 16_000, channels: 1, frame_duration: frameMs },
    ...options.hello,
  })
  return socket
}

export class BoardSocket {
  readonly heard: Heard[] = []
  readonly sound: {
    readonly at: number
    readonly packet: Uint8Array
    readonly timestamp: number
  }[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  #wake = Promise.withResolvers<void>()
  #taken = 0

  constructor(
    readonly raw: WebSocket,
    private readonly encoder: OpusEncoderHandle,
    private readonly options: SocketOptions & {
      readonly version: number
      readonly frameMs: number
    },
  ) {
    const closed = Promise.withResolvers<{ code: number; reason: string }>()
    this.closed = closed.promise
    raw.onclose = ({ code, reason }) => {
      closed.resolve({ code, reason })
      this.#wake.resolve()
      encoder.free()
    }
    raw.onmessage = ({ data }) => {
      if (typeof data === 'string') this.#hear(JSON.parse(data))
      else {
        const bytes = new Uint8Array(data)
        this.sound.push({ at: performance.now(), ...unframe(options.version, bytes) })
      }
      this.#wake.resolve()
      this.#wake = Promise.withResolvers()
    }
  }

  send(message: object): void {
    this.raw.send(JSON.stringify(message))
  }

  close(): Promise<unknown> {
    this.raw.close()
    return this.closed
  }

  /** The next message that matches, of those after the last that was waited for. */
  async next(type: string, state?: string): Promise<Heard> {
    for (;;) {
      while (this.#taken < this.heard.length) {
        const message = this.heard[this.#taken++]
        const matches = message?.type === type && (state === undefined || message.state === state)
        if (matches) return message
      }
      if (this.raw.readyState === WebSocket.CLOSED) throw new Error(`closed before ${type}`)
      await this.#wake.promise
    }
  }

  /** Resolves when there are more packets of sound than these. */
  async sounds(count: number): Promise<void> {
    while (this.sound.length <= count) {
      if (this.raw.readyState === WebSocket.CLOSED) throw new Error('closed before a sound')
      await this.#wake.promise
    }
  }

  /** Drops all messages and sounds so far, so that a long run needs no memory. */
  forget(): void {
    this.heard.length = 0
    this.sound.length = 0
    this.#taken = 0
  }

  /** Sends a packet in a frame. */
  sendPacket(packet: Uint8Array): void {
    this.raw.send(frame(this.options.version, packet))
  }

  /** Sends 16 kHz sound as packets; awaits `sleep` between them. */
  async speak(samples: Int16Array, sleep?: (ms: number) => Promise<unknown>): Promise<void> {
    const size = this.options.frameMs * 16
    for (let at = 0; at + size <= samples.length; at += size) {
      this.sendPacket(this.encoder.encode(samples.subarray(at, at + size)).slice())
      await sleep?.(this.options.frameMs)
    }
  }

  /** All sound so far, packet by packet: 24 kHz. */
  async played(): Promise<Int16Array[]> {
    const decoder = await createDecoder({ channels: 1, sampleRate: 24_000 })
    const all = this.sound.map(({ packet }) => decoder.decode(packet).slice())
    decoder.free()
    return all
  }

  #hear(message: Omit<Heard, 'at'>): void {
    this.heard.push({ at: performance.now(), ...message } as Heard)
    if (message.type === 'mcp') this.#answerTool(message.payload as ToolCall)
  }

  #answerTool({ id, method, params = {} }: ToolCall): void {
    if (id === undefined || !this.options.tools) return
    const payload = { jsonrpc: '2.0', id, ...this.options.tools(method, params) }
    this.send({ type: 'mcp', payload })
  }
}

interface ToolCall {
  readonly id?: number
  readonly method: string
  readonly params?: Record<string, unknown>
}

function frame(version: number, packet: Uint8Array): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(version === 1 ? 0 : version === 2 ? 16 : 4)
  if (version === 2) {
    header.writeUInt16BE(2, 0)
    header.writeUInt32BE(packet.length, 12)
  }
  if (version === 3) header.writeUInt16BE(packet.length, 2)
  return new Uint8Array(Buffer.concat([header, packet]))
}

function unframe(version: number, bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  if (version === 1) return { packet: bytes, timestamp: 0 }
  const header = version === 2 ? 16 : 4
  const size = version === 2 ? view.getUint32(12) : view.getUint16(2)
  if (size !== bytes.length - header) throw new Error('a frame has the wrong size')
  return { packet: bytes.subarray(header), timestamp: version === 2 ? view.getUint32(8) : 0 }
}
