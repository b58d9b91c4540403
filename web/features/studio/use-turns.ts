import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { streamTurn, type TurnRequest } from '../../api/stream.ts'
import type { AgentEvent } from '../../api/types.ts'
import { reload } from '../../lib/reload.ts'
import { useExplain } from '../../lib/services.tsx'
import { afterEvents, newTurn, type Turn } from './turn.ts'

/**
 * The turns of this visit. Events are batched, so that a fast stream renders once a frame and not
 * once a token.
 */
export function useTurns(session: string) {
  const explain = useExplain()
  const client = useQueryClient()
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const running = useRef<AbortController | null>(null)
  const next = useRef(1)

  const change = useCallback((id: number, how: (turn: Turn) => Turn) => {
    setTurns((list) => list.map((turn) => (turn.id === id ? how(turn) : turn)))
  }, [])

  const stop = useCallback(() => running.current?.abort(), [])
  // The session changed: these turns belong to another one.
  const held = useRef(session)
  useLayoutEffect(() => {
    if (held.current === session) return
    held.current = session
    stop()
    setTurns([])
  }, [session, stop])
  useEffect(() => stop, [stop])

  const add = useCallback((text: string, images: readonly string[]): number => {
    const id = next.current++
    setTurns((list) => [...list, newTurn(id, text, images, performance.now())])
    return id
  }, [])

  async function send(request: TurnRequest): Promise<void> {
    const id = add(request.text, request.images)
    const abort = new AbortController()
    running.current = abort
    const frames = gatherer((events) => {
      const at = performance.now()
      change(id, (turn) => afterEvents(turn, events, at))
    })
    try {
      for await (const events of streamTurn(request, abort.signal)) frames.add(events)
      frames.flush()
      // A stream that ends without llm_end or error was cut.
      change(id, (turn) => (turn.state === 'running' ? { ...turn, state: 'failed' } : turn))
      await reload(client, ['sessions'])
    } catch (error) {
      frames.flush()
      const stopped = abort.signal.aborted
      change(id, (turn) => ({
        ...turn,
        state: stopped ? 'stopped' : 'failed',
        error: stopped ? null : { message: explain(error), code: null },
      }))
    } finally {
      if (running.current === abort) running.current = null
    }
  }

  return { turns, send, stop, add, change }
}

/** Passes batched events on, at most once a frame. */
function gatherer(show: (events: readonly AgentEvent[]) => void) {
  let waiting: AgentEvent[] = []
  let frame = 0
  const flush = () => {
    cancelAnimationFrame(frame)
    frame = 0
    if (waiting.length === 0) return
    const events = waiting
    waiting = []
    show(events)
  }
  return {
    flush,
    add(events: readonly AgentEvent[]) {
      for (const event of events) waiting.push(event)
      if (frame === 0) frame = requestAnimationFrame(flush)
    },
  }
}
