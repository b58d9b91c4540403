import { Ear, LoaderCircle, Mic, MicOff, PhoneOff, Square, Volume2 } from 'lucide-react'
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react'
import type { Key } from '../../i18n/index.tsx'
import { useI18n } from '../../i18n/index.tsx'
import { useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { MICROPHONE_WORDS } from '../studio/microphone.ts'
import type { CallState } from './call.ts'
import { type CallEnd, type CallOptions, useCall } from './use-call.ts'

const icon = { size: 18, 'aria-hidden': true } as const
const turning = <LoaderCircle {...icon} className="animate-spin" />

const STATES: Readonly<Record<CallState, { readonly words: Key; readonly sign: ReactNode }>> = {
  opening: { words: 'call.opening', sign: turning },
  listening: { words: 'call.listening', sign: <Mic {...icon} /> },
  hearing: { words: 'call.hearing', sign: <Ear {...icon} /> },
  understanding: { words: 'call.understanding', sign: turning },
  thinking: { words: 'call.thinking', sign: turning },
  speaking: { words: 'call.speaking', sign: <Volume2 {...icon} /> },
}

const MUTED = { words: 'call.muted', sign: <MicOff {...icon} /> } as const

const ENDS: Readonly<Record<CallEnd, Key>> = {
  ...MICROPHONE_WORDS,
  lost: 'call.lost',
  unloaded: 'call.unloaded',
}

interface CallBarProps extends CallOptions {
  readonly onEnd: () => void
}

/** A call in place of the composer: what it does in words, how loud it hears, and its buttons. */
export function CallBar({ session, ask, stop, onEnd }: CallBarProps) {
  const { t } = useI18n()
  const explain = useExplain()
  const call = useCall({ session, ask, stop })
  const { state, problem, ended, isMuted } = call
  const hangUp = useRef<HTMLButtonElement>(null)
  useEffect(() => hangUp.current?.focus({ preventScroll: true }), [])
  const end = useEffectEvent(onEnd)
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape' && !document.querySelector('[data-modal]')) end()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const isDeaf = isMuted && (state === 'listening' || state === 'speaking')
  const { words, sign } = isDeaf ? MUTED : STATES[state]
  const mayInterrupt = state === 'thinking' || state === 'speaking'
  const told = typeof problem === 'string' ? t(`call.${problem}`) : problem && explain(problem)
  return (
    <section className="composer call" aria-label={t('call.name')} data-state={state}>
      {ended ? (
        <Notice tone="warn" icon={<MicOff {...icon} />}>
          <span role="alert">{t(ENDS[ended])}</span>
        </Notice>
      ) : (
        <div className="flex items-center gap-3">
          {sign}
          <p role="status" className="min-w-0 flex-1 font-medium">
            {t(words)}
          </p>
          <Level level={call.level} />
        </div>
      )}
      {told && !ended && (
        <p role="alert" className="text-small text-bad">
          {told}
        </p>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2">
        {!ended && state !== 'opening' && (
          <Button
            kind="quiet"
            icon={isMuted ? <MicOff {...icon} /> : <Mic {...icon} />}
            aria-pressed={isMuted}
            onClick={call.mute}
          >
            {t('call.mute')}
          </Button>
        )}
        {mayInterrupt && (
          <Button icon={<Square {...icon} />} onClick={call.interrupt}>
            {t('call.interrupt')}
          </Button>
        )}
        <Button
          ref={hangUp}
          kind={ended ? undefined : 'danger'}
          icon={<PhoneOff {...icon} />}
          onClick={onEnd}
        >
          {t(ended ? 'action.close' : 'call.end')}
        </Button>
      </div>
    </section>
  )
}

/** How loud the microphone hears, drawn without rendering the page again. */
function Level({ level }: { readonly level: () => number }) {
  const { t } = useI18n()
  const meter = useRef<HTMLMeterElement>(null)
  const read = useEffectEvent(level)
  useEffect(() => {
    let frame = 0
    const show = () => {
      if (meter.current) meter.current.value = read()
      frame = requestAnimationFrame(show)
    }
    show()
    return () => cancelAnimationFrame(frame)
  }, [])
  return <meter ref={meter} className="w-24" max={1} aria-label={t('studio.voice.level')} />
}
