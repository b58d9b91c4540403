import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import { sha256Hex } from '../../core/crypto.ts'
import { MCP_SESSIONS_MAX, MCP_SESSIONS_PER_TENANT_MAX } from '../../core/limits/machine.ts'
import type { ExchangeOptions, RpcAnswer } from './exchange.ts'
import { headersOf, isLost, openSession, ownerOf, type Session } from './legacy.ts'
import { type About, ASKING } from './modern.ts'

/** How long a session without calls is kept: servers hold a browser or a shell for each. */
const IDLE_MS = 30 * MINUTE_MS

interface Talk {
  readonly tenantId: string
  readonly session: Session
  readonly cancelIdle: () => void
  readonly end: () => void
}

/**
 * Sessions in which a server may ask the person. A session is one call's alone while that runs, so
 * that a question is shown for the call that it belongs to. Then it is kept for the next call of
 * its conversation, which finds there what the earlier ones have left, such as an open page. The
 * longest idle ones end where there are too many, first those of the same tenant.
 */
export function createTalks(about: About, clock: Pick<Clock, 'every'>) {
  // The longest idle first: a session that is in use is not among them.
  const idle = new Map<string, Talk>()
  const busy = new Set<string>()

  function take(name: string): Talk | undefined {
    const talk = idle.get(name)
    idle.delete(name)
    return talk
  }

  function makeRoom(tenantId: string): void {
    const own = [...idle].filter(([, talk]) => talk.tenantId === tenantId)
    const isFull = idle.size >= MCP_SESSIONS_MAX
    const [oldest] = own.length >= MCP_SESSIONS_PER_TENANT_MAX ? own : isFull ? idle : []
    if (oldest) end(oldest[0])
  }

  function end(name: string): void {
    const talk = take(name)
    talk?.cancelIdle()
    talk?.end()
  }

  function keep(work: ExchangeOptions, name: string, session: Session): void {
    const { tenantId } = work.endpoint
    makeRoom(tenantId)
    const cancelIdle = clock.every(IDLE_MS, () => end(name))
    idle.set(name, { tenantId, session, cancelIdle, end: () => void endSession(work, session) })
  }

  async function inTalk(
    work: ExchangeOptions,
    name: string,
    call: (session: Session) => Promise<RpcAnswer>,
  ): Promise<RpcAnswer> {
    if (busy.has(name)) return alone(work, call)
    busy.add(name)
    try {
      const known = take(name)
      known?.cancelIdle()
      const session = known?.session ?? (await openSession(work, about, ASKING))
      let isLive = true
      try {
        const answer = await call(session)
        isLive = !known || !isLost(answer, session)
        if (isLive) return answer
      } finally {
        if (isLive) keep(work, name, session)
      }
    } finally {
      busy.delete(name)
    }
    return inTalk(work, name, call)
  }

  async function alone(
    work: ExchangeOptions,
    call: (session: Session) => Promise<RpcAnswer>,
  ): Promise<RpcAnswer> {
    const session = await openSession(work, about, ASKING)
    try {
      return await call(session)
    } finally {
      void endSession(work, session)
    }
  }

  /** Calls in the session of a conversation; null: in one of its own, which ends with the call. */
  return (
    work: ExchangeOptions,
    conversation: string | null,
    call: (session: Session) => Promise<RpcAnswer>,
  ): Promise<RpcAnswer> => {
    if (conversation === null) return alone(work, call)
    return inTalk(work, sha256Hex(JSON.stringify([ownerOf(work.endpoint), conversation])), call)
  }
}

export type Talks = ReturnType<typeof createTalks>

/** Servers may refuse that, and forget the session by themselves. */
async function endSession({ fetch, endpoint }: ExchangeOptions, session: Session): Promise<void> {
  if (session.id === null) return
  try {
    const all = { ...endpoint.headers, ...headersOf(session) }
    const signal = AbortSignal.timeout(5_000)
    const response = await fetch(endpoint.url, { method: 'DELETE', headers: all, signal })
    await response.body?.cancel()
  } catch {
    // Nothing depends on it.
  }
}
