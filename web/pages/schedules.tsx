import { useQuery } from '@tanstack/react-query'
import { CalendarClock, Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import { type Schedule, schedules } from '../api/schedules.ts'
import { ScheduleDialog } from '../features/schedules/schedule-dialog.tsx'
import { isUnderWay, POLL_MS, ScheduleRow } from '../features/schedules/schedule-row.tsx'
import { useI18n } from '../i18n/index.tsx'
import { askForNotices } from '../lib/browser-notice.ts'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

type Asked = { readonly what: 'edit' | 'delete'; readonly schedule: Schedule | null }

/** Questions that are asked by the clock, and reminders by whom they are for. */
export function Schedules() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const query = useQuery({
    queryKey: ['schedules'],
    queryFn: schedules.list,
    // A row tells how its last run ended as soon as it has.
    refetchInterval: ({ state: { data } }) => (data?.some(isUnderWay) ? POLL_MS : false),
  })
  const devices = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    select: ({ devices: all }) => new Map(all.map(({ id, name }) => [`device:${id}`, name])),
  })
  const close = () => setAsked(null)
  const remove = useAction(schedules.remove, {
    done: 'schedules.deleted',
    onGone: close,
    refresh: ['schedules'],
    onDone: close,
  })
  const list = (items: readonly Schedule[]) => (
    <ul className="card divide-y divide-line">
      {items.map((schedule) => (
        <ScheduleRow
          key={schedule.id}
          schedule={schedule}
          onEdit={() => setAsked({ what: 'edit', schedule })}
          onDelete={() => setAsked({ what: 'delete', schedule })}
        />
      ))}
    </ul>
  )
  const add = (
    <Button
      kind="primary"
      icon={<Plus size={16} aria-hidden />}
      onClick={() => {
        void askForNotices()
        setAsked({ what: 'edit', schedule: null })
      }}
    >
      {t('schedules.new')}
    </Button>
  )
  const schedule = asked?.schedule ?? null
  return (
    <Page
      title={t('nav.schedules')}
      about={t('schedules.about')}
      actions={<ForEditors>{add}</ForEditors>}
    >
      <Loaded query={query}>
        {(all) => {
          const own = all.filter(({ kind }) => kind === 'schedule')
          const bySubject = Map.groupBy(
            all.filter(({ kind }) => kind === 'reminder'),
            ({ subject }) => subject ?? '',
          )
          return (
            <>
              {own.length === 0 ? (
                <div className="card">
                  <Empty
                    icon={<CalendarClock />}
                    title={t('schedules.empty')}
                    text={t('schedules.empty.text')}
                  />
                </div>
              ) : (
                list(own)
              )}
              {[...bySubject].map(([subject, reminders]) => (
                <Section
                  key={subject}
                  title={
                    subject.startsWith('user:')
                      ? t('schedules.reminders.mine')
                      : t('schedules.reminders.of', {
                          subject: devices.data?.get(subject) ?? subject,
                        })
                  }
                >
                  {list(reminders)}
                </Section>
              ))}
            </>
          )
        }}
      </Loaded>
      <ScheduleDialog schedule={schedule} open={asked?.what === 'edit'} onClose={close} />
      <Confirm
        title={t('schedules.delete.title', { name: schedule?.name ?? '' })}
        loss={t('schedules.delete.loss')}
        action={t('action.delete')}
        open={asked?.what === 'delete'}
        busy={remove.isPending}
        onConfirm={() => schedule && remove.mutate(schedule.id)}
        onClose={close}
      />
    </Page>
  )
}
