import { Volume2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { speak } from '../../api/speech.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { spokenText } from './spoken.ts'

interface SpeakerProps {
  readonly text: string
  readonly onSound: (sound: Blob) => void
}

/** Reads an answer aloud. */
export function Speaker({ text, onSound }: SpeakerProps) {
  const { t } = useI18n()
  const toasts = useToasts()
  const [isBusy, setBusy] = useState(false)
  const here = useRef(new AbortController())
  useEffect(() => {
    const page = new AbortController()
    here.current = page
    return () => page.abort()
  }, [])
  const play = async () => {
    const { signal } = here.current
    setBusy(true)
    try {
      onSound(await speak(spokenText(text), signal))
    } catch (error) {
      if (!signal.aborted) toasts.show('bad', error as Error)
    }
    if (!signal.aborted) setBusy(false)
  }
  return (
    <Button
      kind="quiet"
      size="small"
      busy={isBusy}
      icon={<Volume2 size={16} aria-hidden />}
      aria-label={t('studio.speak')}
      onClick={() => void play()}
    />
  )
}
