import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { speakStream, transcribe } from '../../api/speech.ts'
import { useConversations } from '../studio/conversations.ts'
import { type MicrophoneFault, microphoneFault } from '../studio/microphone.ts'
import type { Turn } from '../studio/turn.ts'
import { stayAwake } from './awake.ts'
import { type CallState, createCall, type Problem } from './call.ts'
import { type EarOfCall, NotLoaded, openEar, wavOfAll } from './ear.ts'
import { createSpeaker } from './speaker.ts'

/** Why a call cannot go on: the microphone, or a script that did not come. */
export type CallEnd = MicrophoneFault | 'lost' | 'unloaded'

export interface CallOptions {
  readonly session: string
  /** Asks, and resolves with the turn once it has ended. */
  readonly ask: (text: string) => Promise<Turn | null>
  readonly stop: () => void
}

function endOf(error: unknown): CallEnd {
  if (error instanceof NotLoaded) return 'unloaded'
  return microphoneFault(error)
}

/** A call in a conversation, from the first render to the last. */
export function useCall({ session, ask, stop }: CallOptions) {
  const conversations = useConversations()
  const [state, setState] = useState<CallState>('opening')
  const [problem, setProblem] = useState<Problem | null>(null)
  const [ended, setEnded] = useState<CallEnd | null>(null)
  const call = useRef<ReturnType<typeof createCall> | null>(null)
  const ear = useRef<EarOfCall | null>(null)
  const [isMuted, setMuted] = useState(false)
  const asking = useEffectEvent(async (text: string, onReply: (reply: string) => void) => {
    const answered = ask(text)
    const id = conversations.turnsOf(session).at(-1)?.id ?? ''
    const leave = conversations.subscribe(() =>
      onReply(conversations.turnOf(session, id)?.reply ?? ''),
    )
    return answered.finally(leave)
  })
  const stopping = useEffectEvent(stop)
  useEffect(() => {
    const left = new AbortController()
    const context = new AudioContext()
    const finish = (end: CallEnd) => {
      if (left.signal.aborted) return
      left.abort()
      setEnded(end)
    }
    const now = createCall({
      recognise: async (said, signal) => transcribe(await wavOfAll(context, said), signal),
      ask: asking,
      stop: stopping,
      speaker: createSpeaker(context, speakStream),
      onState: setState,
      onProblem: setProblem,
      onLost: () => finish('lost'),
    })
    call.current = now
    left.signal.addEventListener('abort', () => {
      now.end()
      void context.close()
    })
    stayAwake(left.signal)
    void openEar(context, now.events, left.signal)
      .then((opened) => {
        ear.current = opened
        setState('listening')
      })
      .catch((error: unknown) => finish(endOf(error)))
    return () => left.abort()
  }, [])
  return {
    state,
    problem,
    ended,
    isMuted,
    mute() {
      ear.current?.mute(!isMuted)
      setMuted(!isMuted)
    },
    level: () => ear.current?.level() ?? 0,
    interrupt: () => call.current?.interrupt(),
  }
}
