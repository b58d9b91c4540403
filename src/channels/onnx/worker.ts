import { setPriority } from 'node:os'
import { loadModel } from './model.ts'
import type { EmbedAnswer, EmbedRequest } from './protocol.ts'

/** The part of `process` that ties the worker to its parent. */
export interface ParentLink {
  send?(message: EmbedAnswer): unknown
  on(event: 'message', listener: (request: EmbedRequest) => void): unknown
  on(event: 'disconnect' | 'SIGINT', listener: () => void): unknown
}

/** A little below the server's, whose streams must keep their pace while documents are embedded. */
const NICENESS = 5

/**
 * The embedding process: ONNX Runtime blocks the thread it runs on and has crashed at exit in other
 * hosts, so it lives apart from the server. Resolves when the parent has gone; Ctrl-C is the
 * parent's to handle.
 */
export async function runEmbedWorker(dir: string, parent: ParentLink): Promise<void> {
  const send = (message: EmbedAnswer) => parent.send?.(message)
  parent.on('SIGINT', () => {})
  const gone = new Promise<void>((resolve) => parent.on('disconnect', resolve))
  setPriority(NICENESS)
  const model = await loadModel(dir).catch((error: unknown) => {
    send({ type: 'unloadable', message: describe(error) })
    return null
  })
  if (!model) return gone
  parent.on('message', async ({ id, kind, texts }) => {
    try {
      send({ type: 'vectors', id, values: flatten(await model.embed(texts, kind)) })
    } catch (error) {
      send({ type: 'error', id, message: describe(error) })
    }
  })
  send({ type: 'ready' })
  return gone
}

function flatten(vectors: readonly Float32Array[]): Float32Array {
  const dimensions = vectors[0]?.length ?? 0
  const values = new Float32Array(vectors.length * dimensions)
  for (const [row, vector] of vectors.entries()) values.set(vector, row * dimensions)
  return values
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
