import { setPriority } from 'node:os'
import { type Engine, openEngine, type SherpaAddon } from './engine.ts'
import type { VoicePack } from './find.ts'
import type { AsrAnswer, AsrRequest } from './protocol.ts'

/** The part of `process` that ties the worker to its parent. */
export interface ParentLink {
  send?(message: AsrAnswer): unknown
  on(event: 'message', listener: (request: AsrRequest) => void): unknown
  on(event: 'disconnect' | 'SIGINT', listener: () => void): unknown
}

/** A little below the server's, whose streams must keep their pace. */
const NICENESS = 5

/** The library by its full path: neither name nor place of it is known when this is compiled. */
export function openSherpa(pack: VoicePack): Engine {
  const addon: { exports: unknown } = { exports: {} }
  process.dlopen(addon, pack.library)
  return openEngine(addon.exports as SherpaAddon, pack)
}

/**
 * The recognising process: sherpa-onnx must stay apart from the program for its licence, and ends
 * the whole process when it does not like a file. Resolves when the parent has gone; Ctrl-C is the
 * parent's to handle.
 */
export async function runAsrWorker(open: () => Engine, parent: ParentLink): Promise<void> {
  const send = (message: AsrAnswer) => parent.send?.(message)
  parent.on('SIGINT', () => {})
  const gone = new Promise<void>((resolve) => parent.on('disconnect', resolve))
  setPriority(NICENESS)
  try {
    parent.on('message', listener(open(), send))
    send({ type: 'ready' })
  } catch (error) {
    send({ type: 'unloadable', message: describe(error) })
  }
  return gone
}

/** Takes one recording at a time, part by part. */
function listener(engine: Engine, send: (answer: AsrAnswer) => void) {
  let parts: Uint8Array[] = []
  let open = 0
  let heard = 0

  async function recognise(id: number) {
    const samples = toSamples(parts)
    parts = []
    heard = id
    try {
      send({ type: 'text', id, text: await engine.transcribe(samples, () => open !== id) })
    } catch (error) {
      send({ type: 'error', id, message: describe(error) })
    }
  }

  return (request: AsrRequest) => {
    if (request.type === 'hello') {
      send({ type: 'ready' })
      return
    }
    if (request.type === 'samples') {
      open = request.id
      parts.push(request.pcm)
      return
    }
    if (request.type === 'end') {
      open = request.id
      void recognise(request.id)
      return
    }
    open = 0
    parts = []
    // One that is being recognised answers for itself.
    if (heard !== request.id) send({ type: 'text', id: request.id, text: '' })
  }
}

function toSamples(parts: readonly Uint8Array[]): Int16Array {
  const bytes = new Uint8Array(Buffer.concat(parts))
  return new Int16Array(bytes.buffer, 0, bytes.length >> 1)
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
