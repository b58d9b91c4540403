import { Check, X } from 'lucide-react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import type { Recording } from './recorder.ts'

interface RecordingBarProps {
  readonly recording: Recording
  readonly onDone: () => void
  readonly onCancel: () => void
}

/** The loudness and length of a recording, and the buttons to end it. Escape discards it. */
export function RecordingBar({ recording, onDone, onCancel }: RecordingBarProps) {
  const { t } = useI18n()
  const meter = useRef<HTMLMeterElement>(null)
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const began = performance.now()
    let frame = 0
    const show = () => {
      if (meter.current) meter.current.value = recording.level()
      setSeconds(Math.floor((performance.now() - began) / 1_000))
      frame = requestAnimationFrame(show)
    }
    show()
    return () => cancelAnimationFrame(frame)
  }, [recording])
  const cancel = useEffectEvent(onCancel)
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') cancel()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <div className="flex items-center gap-2">
      <meter ref={meter} className="min-w-0 flex-1" max={1} aria-label={t('studio.voice.level')} />
      <span className="tabular-nums">{t('studio.seconds', { total: seconds })}</span>
      <Button size="small" icon={<X size={16} aria-hidden />} onClick={onCancel}>
        {t('action.cancel')}
      </Button>
      <Button
        size="small"
        kind="primary"
        icon={<Check size={16} aria-hidden />}
        aria-label={t('studio.voice.stop')}
        onClick={onDone}
      />
    </div>
  )
}
