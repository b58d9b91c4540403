import { useQuery } from '@tanstack/react-query'
import { ListFilter } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useTyped } from '../../lib/use-typed.ts'
import { Button } from '../../ui/button.tsx'
import { type Choice, SelectField, TextField } from '../../ui/form.tsx'
import { ERROR_CLASSES, useErrorClass } from './error-class.ts'

/** The filters in the page URL, so that a view can be shared. */
export type Filters = Readonly<Record<string, string>>

const ENDPOINTS = [
  '/v1/agent',
  '/v1/tts',
  '/v1/tts/stream',
  '/v1/asr',
  '/v1/kb/docs',
  '/v1/kb/docs/:id',
  '/v1/kb/search',
  '/v1/kb/files',
  '/v1/kb/urls',
  '/v1/kb/sources',
  '/v1/kb/sources/:id',
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/embeddings',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/mcp',
  '/xiaozhi',
  '/wyoming',
]
const STATUSES = ['2xx', '4xx', '5xx', '400', '403', '404', '413', '429', '500', '502', '503']
const HOURS = ['1', '24', '72'] as const

interface FilterBarProps {
  readonly filters: Filters
  readonly onChange: (filters: Filters) => void
}

export function FilterBar({ filters, onChange }: FilterBarProps) {
  const { t } = useI18n()
  const named = useErrorClass()
  const [unfolded, setUnfolded] = useState(false)
  const count = Object.keys(filters).length
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const devices = useQuery({ queryKey: ['devices'], queryFn: api.devices.list })
  const set = (name: string) => (value: string) => {
    const { [name]: _dropped, ...rest } = filters
    onChange(value === '' ? rest : { ...rest, [name]: value })
  }
  const [session, setSession] = useTyped(filters.session_id ?? '', set('session_id'))
  const select = (name: string, label: string, choices: readonly Choice[]) => (
    <SelectField
      label={label}
      value={filters[name] ?? ''}
      choices={[{ value: '', label: t('logs.all') }, ...choices]}
      onPick={set(name)}
    />
  )
  const same = (value: string) => ({ value, label: value })
  const byId = ({ id, name }: { id: string; name: string }) => ({ value: id, label: name })
  const fields = (
    <div className={`card log-filters ${unfolded ? 'mt-3' : 'max-sm:hidden'}`}>
      {select('endpoint', t('logs.endpoint'), ENDPOINTS.map(same))}
      {select('status', t('logs.status'), STATUSES.map(same))}
      {select(
        'error_class',
        t('logs.classes'),
        ERROR_CLASSES.map((name) => ({ value: name, label: named(name) })),
      )}
      {select('app_id', t('logs.app'), (apps.data?.apps ?? []).map(byId))}
      {select('device_id', t('logs.device'), (devices.data?.devices ?? []).map(byId))}
      <TextField label={t('logs.session')} value={session} onText={setSession} />
      {select(
        'hours',
        t('logs.time'),
        HOURS.map((hours) => ({ value: hours, label: t('logs.hours', { hours }) })),
      )}
      {count > 0 && (
        <div className="col-span-full">
          <Button kind="quiet" size="small" onClick={() => onChange({})}>
            {t('logs.clear')}
          </Button>
        </div>
      )}
    </div>
  )
  return (
    <>
      <div className="sm:hidden">
        <Button
          icon={<ListFilter size={16} aria-hidden />}
          aria-expanded={unfolded}
          onClick={() => setUnfolded(!unfolded)}
        >
          {count === 0 ? t('logs.filters') : t('logs.filters.count', { count })}
        </Button>
      </div>
      {fields}
    </>
  )
}
