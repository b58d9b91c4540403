import { CircleHelp, Clock, Repeat2 } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Rating } from './rating.tsx'
import { Speaker } from './speaker.tsx'
import type { Turn } from './turn.ts'
import { useSpeech } from './use-speech.ts'

/** Shorter times are not shown. */
const SHOWN_FROM_MS = 100

const CHANNELS = {
  byo: 'byo',
  platform: 'platform',
  platform_fallback: 'fallback',
} as const

/** Which channel answered; null until the turn is stored. */
export function channelOf({ stats, seq, isBuiltIn }: Turn) {
  if (!stats || (seq === null && stats.channel === 'platform')) return null
  return isBuiltIn ? 'builtin' : CHANNELS[stats.channel]
}

interface FootProps {
  readonly turn: Turn
  readonly onWhy: () => void
  /** Called with the address of the spoken answer. */
  readonly onSound: (url: string) => void
  /** Null when the turn cannot be asked again. */
  readonly onAgain: (() => void) | null
}

/** The buttons below an answer. */
export function Foot({ turn, onWhy, onSound, onAgain }: FootProps) {
  const { t } = useI18n()
  const { canSpeak } = useSpeech()
  const icon = { size: 16, 'aria-hidden': true } as const
  const quiet = { kind: 'quiet', size: 'small' } as const
  return (
    <div className="foot">
      {turn.reply && <CopyButton text={turn.reply} size="small" />}
      {turn.reply && canSpeak && <Speaker text={turn.reply} onSound={onSound} />}
      {turn.reply && turn.seq !== null && <Rating seq={turn.seq} rating={turn.rating ?? 0} />}
      {onAgain && (
        <Button
          {...quiet}
          className="when-idle"
          icon={<Repeat2 {...icon} />}
          aria-label={t(turn.state === 'done' ? 'studio.again' : 'studio.retry')}
          onClick={onAgain}
        />
      )}
      {turn.stats && (
        <Button
          {...quiet}
          icon={<CircleHelp {...icon} />}
          aria-label={t('studio.why')}
          onClick={onWhy}
        />
      )}
    </div>
  )
}

export function Times({ turn: { firstMs, totalMs } }: { readonly turn: Turn }) {
  const { t } = useI18n()
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  if (totalMs === null || totalMs < SHOWN_FROM_MS) return null
  return (
    <span className="inline-flex items-center gap-1">
      <Clock size={13} aria-hidden />
      {firstMs === null
        ? t('studio.seconds', { total: seconds(totalMs) })
        : t('studio.timing', { first: seconds(firstMs), total: seconds(totalMs) })}
    </span>
  )
}

/** The tokens of the turn; estimated when the model reported none. */
export function Tokens({ turn: { stats, isBuiltIn } }: { readonly turn: Turn }) {
  const { t, locale } = useI18n()
  if (!stats || isBuiltIn) return null
  const values = {
    input: stats.input_tokens.toLocaleString(locale),
    output: stats.output_tokens.toLocaleString(locale),
  }
  return <span>{t(stats.usage_estimated ? 'studio.tokens.about' : 'studio.tokens', values)}</span>
}
