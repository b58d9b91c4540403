import type { Clock } from '../../core/clock.ts'
import { CHILD_ENV } from '../child/child-env.ts'
import type { EmbedKind } from '../ports/embedder.ts'
import type { EmbedAnswer, EmbedRequest } from './protocol.ts'

/** How the embedding process is started. */
export interface ProcessCommand {
  /** This executable, the command that makes it an embedding process, and the model's folder. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface EmbedProcess {
  /** Vectors of all texts, one behind the other. One call at a time. */
  ask(kind: EmbedKind, texts: readonly string[]): Promise<Float32Array>
  kill(): void
}

/** The process ended, was never heard of, or took too long; another one may do better. */
export class ProcessLost extends Error {
  override readonly name = 'ProcessLost'
}

/** The model refused: another process would, too. */
class ModelError extends Error {
  override readonly name = 'ModelError'
}

/** Loading a large model from a slow disk; also the longest one batch may take. */
const PATIENCE_MS = 60_000

interface Waiting {
  readonly resolve: (answer: EmbedAnswer) => void
  readonly reject: (error: Error) => void
}

/** Starts the process; resolves when its model is loaded. `onExit` is called once, at its end. */
export async function startEmbedProcess(
  { argv, env }: ProcessCommand,
  clock: Clock,
  onExit: () => void,
): Promise<EmbedProcess> {
  let waiting: Waiting | null = null
  let lastId = 0
  const child = Bun.spawn([...argv], {
    env: { ...env, ...CHILD_ENV },
    stdio: ['ignore', 'ignore', 'inherit'],
    serialization: 'advanced',
    ipc: (answer: EmbedAnswer) => waiting?.resolve(answer),
    onExit: () => {
      waiting?.reject(new ProcessLost('the embedding process ended'))
      onExit()
    },
  })
  // Without its exit handlers: ONNX Runtime has crashed there, and there is nothing to save.
  const kill = () => child.kill('SIGKILL')

  async function answer(): Promise<EmbedAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<EmbedAnswer>()
    waiting = { resolve, reject }
    const stop = clock.after(PATIENCE_MS, () => {
      reject(new ProcessLost('the embedding process does not answer'))
      kill()
    })
    try {
      return await promise
    } finally {
      stop()
      waiting = null
    }
  }

  const first = await answer()
  if (first.type !== 'ready') {
    kill()
    throw new ModelError('message' in first ? first.message : 'unexpected first message')
  }

  return {
    kill,
    async ask(kind, texts) {
      const request: EmbedRequest = { id: ++lastId, kind, texts }
      const pending = answer()
      try {
        child.send(request)
      } catch {
        waiting?.reject(new ProcessLost('the embedding process is gone'))
      }
      const got = await pending
      if (got.type === 'vectors' && got.id === request.id) return got.values
      throw new ModelError('message' in got ? got.message : 'unexpected answer')
    },
  }
}
