import { useEffect, useRef, useState } from 'react'
import { speak, transcribe } from '../../api/speech.ts'
import { useI18n } from '../../i18n/index.tsx'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { useToasts } from '../../lib/services.tsx'
import { MICROPHONE_WORDS, mayRecord, microphoneFault } from './microphone.ts'
import type { Recording } from './recorder.ts'
import { spokenText } from './spoken.ts'
import type { Turn } from './turn.ts'

interface VoiceOptions {
  /** Asks, and resolves with the turn once it has ended. */
  readonly ask: (text: string) => Promise<Turn | null>
  /** Plays the sound beside the turn. */
  readonly play: (turn: Turn, sound: Blob) => void
}

/** Records a question, asks it like a typed one, and speaks the reply. */
export function useVoice({ ask, play }: VoiceOptions) {
  const { t } = useI18n()
  const toasts = useToasts()
  const [state, setState] = useState<'idle' | 'recording' | 'thinking'>('idle')
  const [recording, setRecording] = useState<Recording | null>(null)
  const attempt = useRef(new AbortController())

  // Leaving the page stops the recording.
  useEffect(() => () => attempt.current.abort(), [])

  async function start() {
    const here = new AbortController()
    // The answer before is not spoken into the next question.
    attempt.current.abort()
    attempt.current = here
    setState('thinking')
    try {
      // The frame tells of a chunk that is not there.
      const chunk = await loadChunk(() => import('./recorder.ts')).catch(() => null)
      here.signal.throwIfAborted()
      if (!chunk) return setState('idle')
      setRecording(await chunk.record(here.signal))
      setState('recording')
    } catch (error) {
      if (here.signal.aborted) return
      setState('idle')
      toasts.show('bad', t(MICROPHONE_WORDS[microphoneFault(error)]))
    }
  }

  function cancel() {
    attempt.current.abort()
    setRecording(null)
    setState('idle')
  }

  async function finish() {
    if (!recording) return
    const { signal } = attempt.current
    setRecording(null)
    setState('thinking')
    try {
      const text = await transcribe(await recording.stop(), signal)
      setState('idle')
      if (text.trim() === '') return toasts.show('bad', t('call.nothing'))
      const turn = await ask(text)
      if (turn?.state !== 'done' || signal.aborted) return
      play(turn, await speak(spokenText(turn.reply), signal))
    } catch (error) {
      if (!signal.aborted) toasts.show('bad', error as Error)
    } finally {
      if (!signal.aborted) setState('idle')
    }
  }

  if (!mayRecord()) return null
  return { state, recording, start: () => void start(), finish: () => void finish(), cancel }
}

export type Voice = NonNullable<ReturnType<typeof useVoice>>
