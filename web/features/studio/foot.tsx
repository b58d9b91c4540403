import { CircleHelp, Clock, GitBranch, Pencil, Trash2 } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { lazyPart } from '../../lib/lazy-part.ts'
import { CopyButton } from '../../ui/button.tsx'
import { type RowAction, RowMenu } from '../../ui/row-menu.tsx'
import { Again } from './again.tsx'
import { Rating } from './rating.tsx'
import { Speaker } from './speaker.tsx'
import type { Turn } from './turn.ts'
import { useSpeech } from './use-speech.ts'
import type { Ways } from './use-versions.ts'
import type { Wish } from './wish.ts'

const RemoveTurn = lazyPart(() => import('./remove-turn.tsx'), 'RemoveTurn')

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
  readonly ways: Ways | undefined
  readonly onWhy: () => void
  /** Called with the address of the spoken answer. */
  readonly onSound: (sound: Blob) => void
  /** Null when the turn cannot be asked again. */
  readonly onAgain: ((wish?: Wish) => void) | null
  /** Null when the question cannot be asked in other words. */
  readonly onEdit: (() => void) | null
  /** Goes on from here in another way of the talk; null where nothing came after. */
  readonly onFrom: (() => void) | null
  /** Shows what stays once this is deleted: a way of the talk, or a new one; null: it cannot be. */
  readonly onGone: ((session: string | null) => void) | null
}

/** The buttons below an answer. */
export function Foot(props: FootProps) {
  const { turn, ways, onWhy, onSound, onAgain, onEdit, onFrom, onGone } = props
  const { t } = useI18n()
  const { canSpeak } = useSpeech()
  const [isRemoving, setRemoving] = useState(false)
  const { reply, seq } = turn
  const more: RowAction[] = [
    ...(turn.stats ? [{ label: t('studio.why'), icon: CircleHelp, act: onWhy }] : []),
    ...(onEdit ? [{ label: t('studio.edit'), icon: Pencil, act: onEdit }] : []),
    ...(onFrom ? [{ label: t('studio.from'), icon: GitBranch, act: onFrom }] : []),
    ...(onGone && seq !== null
      ? [
          {
            label: t('studio.remove'),
            icon: Trash2,
            act: () => setRemoving(true),
            isLoss: true,
          },
        ]
      : []),
  ]
  return (
    <div className="foot">
      {reply && <CopyButton text={reply} size="small" />}
      {reply && canSpeak && <Speaker text={reply} onSound={onSound} />}
      {onAgain && <Again turn={turn} onAgain={onAgain} />}
      {reply && seq !== null && <Rating seq={seq} rating={turn.rating ?? 0} />}
      {more.length > 0 && <RowMenu label={t('studio.more')} actions={more} />}
      {isRemoving && onGone && seq !== null && (
        <Suspense>
          <RemoveTurn seq={seq} ways={ways} onGone={onGone} onClose={() => setRemoving(false)} />
        </Suspense>
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
