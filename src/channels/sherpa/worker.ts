import { errorMessage, type ParentLink, serveParent } from '../../upstream/child/worker-link.ts'
import { type Engine, NOTHING, openEngine, type Recognised, type SherpaAddon } from './engine.ts'
import type { VoicePack } from './find.ts'

/** Messages between the server and its recogniser process; one recording is open at a time. */
export type AsrRequest =
  /** The next part of recording `id`: 16 kHz mono, signed 16 bit; may split a sample. */
  | { readonly type: 'samples'; readonly id: number; readonly pcm: Uint8Array }
  | { readonly type: 'end'; readonly id: number }
  /** The caller no longer wants the text. */
  | { readonly type: 'cancel'; readonly id: number }

export type AsrAnswer =
  /** The text of recording `id`; also the answer to `cancel`. */
  | { readonly type: 'text'; readonly id: number; readonly heard: Recognised }
  | { readonly type: 'error'; readonly id: number; readonly message: string }

/** Loads the library by its full path, which is unknown at compile time. */
export function openSherpa(pack: VoicePack): Engine {
  const addon: { exports: unknown } = { exports: {} }
  process.dlopen(addon, pack.library)
  return openEngine(addon.exports as SherpaAddon, pack)
}

/**
 * The recogniser process. sherpa-onnx must stay apart from the program for its licence, and it
 * aborts the whole process at a file that it cannot use. Resolves when the server has gone.
 */
export function runAsrWorker(open: () => Engine, parent: ParentLink<AsrRequest>): Promise<void> {
  return serveParent<AsrRequest, AsrAnswer>(parent, async (send) => createListener(open(), send))
}

/** Takes one recording at a time, part by part. */
function createListener(engine: Engine, send: (answer: AsrAnswer) => void) {
  let parts: Uint8Array[] = []
  let open = 0
  let last = 0

  async function recognise(id: number) {
    const samples = toSamples(parts)
    parts = []
    last = id
    try {
      const heard = await engine.transcribe(samples, () => open !== id)
      send({ type: 'text', id, heard })
    } catch (error) {
      send({ type: 'error', id, message: errorMessage(error) })
    }
  }

  return (request: AsrRequest) => {
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
    // A recording that is being recognised sends its own answer.
    if (last !== request.id) send({ type: 'text', id: request.id, heard: NOTHING })
  }
}

function toSamples(parts: readonly Uint8Array[]): Int16Array {
  const bytes = new Uint8Array(Buffer.concat(parts))
  return new Int16Array(bytes.buffer, 0, bytes.length >> 1)
}
