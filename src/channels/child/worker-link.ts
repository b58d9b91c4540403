import { lowerProcessPriority } from '../../core/time-slice.ts'
import type { ChildState, Ping } from './child-process.ts'

/** The part of `process` that ties a child process to its parent. */
export interface ParentLink<Request> {
  send?(message: unknown): unknown
  on(event: 'message', listener: (request: Request | Ping) => void): unknown
  on(event: 'disconnect' | 'SIGINT', listener: () => void): unknown
}

/**
 * Runs the child's side: `load` prepares what the child works with and gives the function that
 * answers requests. Resolves when the parent has gone. Ctrl-C is the parent's to handle. Its work
 * gives way to that of the server, unless `isUrgent`.
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

/** What a child tells its parent of an error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
