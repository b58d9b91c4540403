import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { History, Pause, Pencil, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Run, type Schedule, schedules } from '../../api/schedules.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import { useAction } from '../../lib/services.tsx'
import { useTimes } from '../../lib/time.ts'
import { CHAT } from '../../shell/nav.ts'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { useReason } from './reason.ts'
import { useRhythm } from './use-rhythm.ts'

interface RowProps {
  readonly schedule: Schedule
  readonly onEdit: () => void
  readonly onDelete: () => void
}

const ICON = { size: 15, 'aria-hidden': true } as const
const TONES = { done: 'good', failed: 'bad', missed: 'warn' } as const

/** What has ended has a colour of its own. */
const toneOf = (status: Run['status']) =>
  status === 'done' || status === 'failed' || status === 'missed' ? TONES[status] : 'accent'

/** A schedule or a reminder, with what became of its runs. */
export function ScheduleRow({ schedule, onEdit, onDelete }: RowProps) {
  const { t } = useI18n()
  const times = useTimes()
  const rhythmOf = useRhythm()
  const mayChange = useMayChange()
  const [isOpen, setIsOpen] = useState(false)
  const { name, next_at: next, time_zone: zone, enabled, kind, last } = schedule
  const pause = useAction(() => schedules.enable(schedule.id, !enabled), {
    refresh: ['schedules'],
  })
  const run = useAction(() => schedules.run(schedule.id), {
    done: 'schedules.started',
    refresh: ['schedules', 'runs'],
    // Whoever starts a run waits for how it ends, and why.
    onDone: () => setIsOpen(true),
  })
  return (
    <li className="px-5 py-3">
      <div className="flex flex-wrap items-start gap-x-4 gap-y-1">
        <div className="min-w-0 flex-1 basis-full sm:basis-0">
          <h2 className="text-base break-words">{name}</h2>
          <p className="mt-1 text-note text-ink-2">
            {rhythmOf(schedule)}
            {' · '}
            {next === null
              ? t(enabled ? 'schedules.over' : 'schedules.paused')
              : t('schedules.next.at', {
                  time: times.coming(next, zone),
                })}
          </p>
          {last && (
            <p className="mt-1 flex flex-wrap items-center gap-2 text-small text-ink-2">
              <Badge tone={toneOf(last.status)}>{t(`schedules.status.${last.status}`)}</Badge>
              <Ago at={last.at} />
            </p>
          )}
        </div>
        <div className="flex gap-1">
          <Button
            kind="quiet"
            size="small"
            icon={<History {...ICON} />}
            aria-label={t('schedules.history', { name })}
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          />
          {kind === 'schedule' && (
            <ForEditors>
              <Button
                kind="quiet"
                size="small"
                busy={run.isPending}
                aria-label={t('system.summary', { name: t('schedules.run'), value: name })}
                onClick={() => run.mutate(undefined)}
              >
                {t('schedules.run')}
              </Button>
              <Button
                kind="quiet"
                size="small"
                icon={enabled ? <Pause {...ICON} /> : <Play {...ICON} />}
                aria-label={t(enabled ? 'schedules.pause' : 'schedules.resume', { name })}
                onClick={() => pause.mutate(undefined)}
              />
              <Button
                kind="quiet"
                size="small"
                icon={<Pencil {...ICON} />}
                aria-label={t('schedules.edit.one', { name })}
                onClick={onEdit}
              />
            </ForEditors>
          )}
          {(kind === 'reminder' || mayChange) && (
            <Button
              kind="quiet"
              size="small"
              icon={<Trash2 {...ICON} />}
              aria-label={t('schedules.delete.title', { name })}
              onClick={onDelete}
            />
          )}
        </div>
      </div>
      {isOpen && <Runs id={schedule.id} />}
    </li>
  )
}

export const POLL_MS = 2_000
const isOpenRun = ({ status }: Pick<Run, 'status'>) => status === 'waiting' || status === 'running'
export const isUnderWay = ({ last }: Schedule) => last !== null && isOpenRun(last)

function Runs({ id }: { readonly id: string }) {
  const { t } = useI18n()
  const query = useQuery({
    queryKey: ['runs', id],
    queryFn: () => schedules.runs(id),
    refetchInterval: ({ state: { data } }) => (data?.some(isOpenRun) ? POLL_MS : false),
  })
  return (
    <Loaded query={query}>
      {(runs) =>
        runs.length === 0 ? (
          <p className="mt-2 text-note text-ink-2">{t('schedules.runs.none')}</p>
        ) : (
          <ul className="mt-2 grid gap-1 text-note">
            {runs.map((run) => (
              <RunLine key={run.id} run={run} />
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

function RunLine({ run }: { readonly run: Run }) {
  const { t } = useI18n()
  const { exact } = useTimes()
  const reasonOf = useReason()
  const { status, due_at: due, session_id: session, error_class: reason } = run
  return (
    <li className="flex flex-wrap items-center gap-2">
      <span>{exact(due)}</span>
      <Badge tone={toneOf(status)}>{t(`schedules.status.${status}`)}</Badge>
      {reason !== null && <span className="text-ink-2">{reasonOf(reason)}</span>}
      {status === 'done' && (
        <Link to={CHAT} search={{ session }}>
          {t('schedules.conversation')}
        </Link>
      )}
    </li>
  )
}
