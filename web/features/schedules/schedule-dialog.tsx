import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  RUN_MODEL_CALLS_DEFAULT,
  RUN_MODEL_CALLS_MAX,
  RUN_WEBHOOKS_MAX,
  SCHEDULE_NAME_CHARS_MAX,
  SCHEDULE_TEXT_CHARS_MAX,
} from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import { type Schedule, schedules } from '../../api/schedules.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { useTimes } from '../../lib/time.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, SelectField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { namedChoices } from '../../ui/named-choices.ts'
import { EndWebhooks } from '../webhooks/end-webhooks.tsx'
import { FIRST, RHYTHMS, type Rhythm, type Timing, timesOf, timingOf } from './rhythm.ts'
import { RunLimits, type RunLimitsInput } from './run-limits.tsx'
import { weekdayName } from './weekday.ts'
import { zoneHere, zoneWords } from './zone.ts'
import { ZoneField } from './zone-field.tsx'

interface ScheduleDialogProps {
  /** Null makes a new one. */
  readonly schedule: Schedule | null
  readonly open: boolean
  readonly onClose: () => void
}

const WEEK = [1, 2, 3, 4, 5, 6, 0] as const
const SHOWN_TIMES = 5
const FIRST_LIMITS: RunLimitsInput = {
  max_model_calls: RUN_MODEL_CALLS_DEFAULT,
  approved_tools: [],
}

export function ScheduleDialog({ schedule, open, onClose }: ScheduleDialogProps) {
  const { t } = useI18n()
  return (
    <Dialog
      title={t(schedule ? 'schedules.edit' : 'schedules.new')}
      open={open}
      onClose={onClose}
      wide
    >
      <ScheduleForm key={schedule?.id ?? 'new'} schedule={schedule} onClose={onClose} />
    </Dialog>
  )
}

function ScheduleForm({ schedule, onClose }: Omit<ScheduleDialogProps, 'open'>) {
  const { t } = useI18n()
  const [name, setName] = useState(schedule?.name ?? '')
  const [text, setText] = useState(schedule?.text ?? '')
  const [app, setApp] = useState(schedule?.app_id ?? '')
  const [device, setDevice] = useState(schedule?.device_id ?? '')
  const [session, setSession] = useState<string>(schedule?.session ?? 'new')
  const [timing, setTiming] = useState(schedule ? timingOf(schedule.cron, schedule.at) : FIRST)
  const [chosen, setZone] = useState(schedule?.time_zone ?? zoneHere())
  // A moment is typed as the clock of this browser tells it.
  const zone = timing.rhythm === 'once' ? zoneHere() : chosen
  const [limits, setLimits] = useState<RunLimitsInput>(schedule ?? FIRST_LIMITS)
  const [hooks, setHooks] = useState<readonly string[]>(schedule?.webhook_ids ?? [])
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const devices = useQuery({ queryKey: ['devices'], queryFn: api.devices.list })
  const times = timesOf(timing)
  const save = useAction(schedules.save.bind(null, schedule?.id ?? null), {
    done: 'schedules.saved',
    refresh: ['schedules'],
    onDone: onClose,
  })
  const { max_model_calls, approved_tools } = limits
  const isBounded = max_model_calls >= 1 && max_model_calls <= RUN_MODEL_CALLS_MAX
  const count = [...text.trim()].length
  const isSaid = count > 0 && count <= SCHEDULE_TEXT_CHARS_MAX
  const isValid = name.trim() !== '' && isSaid && times !== null && isBounded
  const send = () => {
    if (times === null) return
    save.mutate({
      ...times,
      enabled: schedule?.enabled ?? true,
      max_model_calls,
      approved_tools,
      webhook_ids: hooks,
      name: name.trim(),
      text: text.trim(),
      time_zone: zone,
      app_id: app || null,
      device_id: device || null,
      session: session === 'same' ? 'same' : 'new',
    })
  }

  const words = { none: t('schedules.none'), gone: t('schedules.gone') }
  return (
    <Form isWhole={isValid} onSend={send}>
      <TextField
        label={t('field.name')}
        value={name}
        maxLength={SCHEDULE_NAME_CHARS_MAX}
        required
        onText={setName}
      />
      <AreaField
        label={t('schedules.text')}
        value={text}
        charsMax={SCHEDULE_TEXT_CHARS_MAX}
        rows={4}
        required
        onText={setText}
      />
      <TimingFields timing={timing} onTiming={setTiming} />
      {timing.rhythm !== 'once' && <ZoneField zone={zone} onZone={setZone} />}
      <NextTimes timing={timing} zone={zone} />
      <SelectField
        label={t('schedules.app')}
        value={app}
        choices={namedChoices(apps.data?.apps, app, { ...words, none: t('studio.app.none') })}
        onPick={setApp}
      />
      <SelectField
        label={t('schedules.device')}
        value={device}
        choices={namedChoices(devices.data?.devices, device, words)}
        onPick={setDevice}
      />
      <SelectField
        label={t('schedules.session')}
        value={session}
        choices={[
          { value: 'new', label: t('schedules.session.new') },
          { value: 'same', label: t('schedules.session.same') },
        ]}
        onPick={setSession}
      />
      <EndWebhooks chosen={hooks} max={RUN_WEBHOOKS_MAX} onChoose={setHooks} />
      <RunLimits limits={limits} onLimits={setLimits} />
      <FormEnd busy={save.isPending} onCancel={onClose} />
    </Form>
  )
}

interface TimingFieldsProps {
  readonly timing: Timing
  readonly onTiming: (timing: Timing) => void
}

function TimingFields({ timing, onTiming }: TimingFieldsProps) {
  const { t, language } = useI18n()
  const { rhythm, time, weekday, day, moment, cron } = timing
  const set = (more: Partial<Timing>) => onTiming({ ...timing, ...more })
  return (
    <>
      <SelectField
        label={t('schedules.when')}
        value={rhythm}
        choices={RHYTHMS.map((value) => ({ value, label: t(`schedules.when.${value}`) }))}
        onPick={(value) => set({ rhythm: value as Rhythm })}
      />
      {rhythm === 'weekly' && (
        <SelectField
          label={t('schedules.weekday')}
          value={String(weekday)}
          choices={WEEK.map((value) => ({
            value: String(value),
            label: weekdayName(value, language),
          }))}
          onPick={(value) => set({ weekday: Number(value) })}
        />
      )}
      {rhythm === 'monthly' && (
        <TextField
          label={t('schedules.day')}
          type="number"
          min={1}
          max={31}
          value={String(day)}
          onText={(value) => set({ day: Number(value) })}
        />
      )}
      {rhythm === 'once' && (
        <TextField
          label={t('schedules.moment')}
          type="datetime-local"
          required
          value={moment}
          onText={(value) => set({ moment: value })}
        />
      )}
      {rhythm === 'cron' && (
        <TextField
          label={t('schedules.cron')}
          hint={t('schedules.cron.hint')}
          required
          value={cron}
          onText={(value) => set({ cron: value })}
        />
      )}
      {rhythm !== 'once' && rhythm !== 'cron' && (
        <TextField
          label={t('schedules.time')}
          type="time"
          required
          value={time}
          onText={(value) => set({ time: value })}
        />
      )}
    </>
  )
}

/** The next times, before anything is saved. */
function NextTimes({ timing, zone }: { readonly timing: Timing; readonly zone: string }) {
  const { t, locale } = useI18n()
  const when = useTimes()
  const explain = useExplain()
  const times = timesOf(timing)
  const query = useQuery({
    queryKey: ['schedule times', times, zone],
    queryFn: () => schedules.preview({ cron: null, at: null, ...times, time_zone: zone }),
    enabled: times !== null,
    retry: false,
  })
  if (times === null) return null
  if (query.error) return <p className="text-note text-bad">{explain(query.error)}</p>
  const shown = (query.data ?? []).slice(0, SHOWN_TIMES)
  return (
    <section aria-label={t('schedules.next')} className="text-note text-ink-2">
      <h3>{t('schedules.next.in', { zone: zoneWords(zone, locale) })}</h3>
      <ul>
        {shown.map((time) => (
          <li key={time}>{when.coming(time, zone)}</li>
        ))}
      </ul>
    </section>
  )
}
