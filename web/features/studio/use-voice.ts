import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { useConversations } from './conversations.ts'
import { mayRecord, record } from './recorder.ts'
import { newTurn } from './turn.ts'

/** Records a question and plays the reply, with one request to the voice route. */
export function useVoice(session: string) {
  const conversations = useConversations()
  const { t } = useI18n()
  const toasts = useToasts()
  const [state, setState] = useState<'idle' | 'recording' | 'thinking'>('idle')
  const active = useRef<Awaited<ReturnType<typeof record>> | null>(null)
  const page = useRef(new AbortController())

  // Leaving the page stops the recording.
  useEffect(() => {
    const here = new AbortController()
    page.current = here
    return () => here.abort()
  }, [])

  async function start() {
    const left = page.current.signal
    setState('thinking')
    try {
      active.current = await record(left)
      setState('recording')
    } catch {
      if (left.aborted) return
      setState('idle')
      toasts.show('bad', t('studio.voice.refused'))
    }
  }

  async function finish() {
    const stop = active.current
    if (!stop) return
    active.current = null
    setState('thinking')
    try {
      const audio_b64 = await stop()
      const started = performance.now()
      const said = await api.voice({ audio_b64, session_id: session })
      const id = conversations.add(session, { text: said.asr_text, images: [] })
      conversations.change(session, id, () => ({
        ...newTurn(id, { text: said.asr_text, images: [] }, started),
        state: 'done',
        reply: said.reply_text,
        audio: said.audio_b64,
        totalMs: performance.now() - started,
      }))
      conversations.tellStored(session)
    } catch (error) {
      toasts.show('bad', error instanceof Error ? error : t('error.unexpected'))
    } finally {
      setState('idle')
    }
  }

  return mayRecord()
    ? { state, toggle: () => void (state === 'recording' ? finish() : start()) }
    : null
}
