import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactNode } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import type { Found } from './checks.ts'
import type { StepId } from './steps.ts'

interface StepProps {
  readonly id: StepId
  readonly to: string
  readonly done: boolean
  /** Null when the step cannot be tested before it is done. */
  readonly check: (() => Promise<Found>) | null
  readonly onFound?: (found: Found | null) => void
  /** Replaces the step's sentence. */
  readonly children?: ReactNode
}

const TONES = { good: 'text-good', warn: 'text-warn', bad: 'text-bad' } as const

/** One step of the first run: its purpose, a link, and a test. */
export function Step({ id, to, done, check, onFound, children }: StepProps) {
  const { t } = useI18n()
  const test = useAction(async () => (check ? check() : null), {
    onDone: (found) => onFound?.(found),
  })
  const act = t(done ? 'home.open' : `home.${id}.go`)
  return (
    <li
      className="flex flex-wrap items-center gap-x-4 gap-y-3 px-5 py-4 data-open:items-start"
      data-open={children ? true : undefined}
    >
      {done ? (
        <CircleCheck size={21} className="flex-none text-good" aria-label={t('home.done')} />
      ) : (
        <CircleDashed size={21} className="flex-none text-ink-3" aria-label={t('home.undone')} />
      )}
      <div className="min-w-52 flex-1">
        <p className="font-medium">{t(`home.${id}`)}</p>
        <p className="text-note text-ink-2" aria-live="polite">
          {test.data ? (
            <span className={TONES[test.data.tone]}>{test.data.text}</span>
          ) : (
            !children && t(`home.${id}.text`)
          )}
        </p>
        {children && <div className="mt-1 text-note text-ink-2">{children}</div>}
      </div>
      <div className="flex gap-2">
        {check && (
          <Button
            size="small"
            busy={test.isPending}
            aria-label={t('system.summary', { name: t('home.test'), value: t(`home.${id}`) })}
            onClick={() => test.mutate(undefined)}
          >
            {t('home.test')}
          </Button>
        )}
        <Link
          to={to}
          className="btn"
          data-size="small"
          data-kind={done ? 'quiet' : undefined}
          aria-label={done ? t('system.summary', { name: act, value: t(`home.${id}`) }) : undefined}
        >
          {act}
        </Link>
      </div>
    </li>
  )
}
