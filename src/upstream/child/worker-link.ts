import { lowerProcessPriority } from '../../core/time-slice.ts'
import type { ChildState, Ping } from './child-process.ts'

/** The part of `process` that ties a child process to its parent. */
export interface ParentLink<Request> {
  send?(message: unknown): unknown
  on(event: 'message', listener: (request: Request | Ping) => void): unknown
  on(event: 'disconnect' | 'SIGINT', listener: () => void): unknown
}

/**
 * Runs the child's side. `load` loads what the child needs and returns the function that answers
 * requests. Resolves when the parent has gone. The child ignores Ctrl-C, which the parent handles.
 * It runs at a lower priority than the server, unless `isUrgent`.
 */
export async function serveParent<Request extends { readonly type: string }, Answer>(
  parent: ParentLink<Request>,
  load: (send: (answer: Answer) => void) => Promise<(request: Request) => void>,
  isUrgent = false,
): Promise<void> {
  const send = (message: Answer | ChildState) => parent.send?.(message)
  parent.on('SIGINT', () => {})
  const gone = new Promise<void>((resolve) => parent.on('disconnect', resolve))
  if (!isUrgent) lowerProcessPriority()
  try {
    const handle = await load(send)
    parent.on('message', (request) => {
      if (isPing(request)) send({ type: 'ready' })
      else handle(request)
    })
    send({ type: 'ready' })
  } catch (error) {
    send({ type: 'unloadable', message: errorMessage(error) })
  }
  return gone
}

const isPing = (request: { readonly type: string }): request is Ping => request.type === 'ping'

/** The text of an error that a child sends to its parent. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
