import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useTimes } from '../../lib/time.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { curlOf } from '../../ui/curl.tsx'
import { SelectField, SwitchField } from '../../ui/form.tsx'

export interface Chosen {
  readonly app: string
  readonly session: string
  readonly kb: boolean
}

interface BarProps {
  readonly chosen: Chosen
  /** The last question, for the curl command. */
  readonly text: string
  readonly onChange: (chosen: Partial<Chosen>) => void
  readonly onNew: () => void
}

/** The choice of app, session and knowledge base. */
export function Bar({ chosen, text, onChange, onNew }: BarProps) {
  const { t } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => api.sessions.list() })
  const { ago } = useTimes()
  const known = (sessions.data?.sessions ?? []).map(({ id, last_at }) => ({
    value: id,
    label: `${id} · ${ago(last_at)}`,
  }))
  const here = { value: chosen.session, label: chosen.session }
  const choices = known.some(({ value }) => value === here.value) ? known : [here, ...known]
  const body = { text, session_id: chosen.session, ...(chosen.kb ? {} : { kb: false }) }
  return (
    <div className="card grid items-end gap-4 p-4 sm:grid-cols-2 lg:grid-cols-[1fr_1fr_auto_auto]">
      <SelectField
        label={t('studio.app')}
        value={chosen.app}
        choices={[
          { value: '', label: t('studio.app.none') },
          ...(apps.data?.apps ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onPick={(app) => onChange({ app })}
      />
      <SelectField
        label={t('studio.session')}
        value={chosen.session}
        choices={choices}
        onPick={(session) => onChange({ session })}
      />
      <div className="pb-2">
        <SwitchField label={t('nav.kb')} on={chosen.kb} onChange={(kb) => onChange({ kb })} />
      </div>
      <div className="flex justify-end gap-1">
        <Button icon={<Plus size={16} aria-hidden />} onClick={onNew}>
          {t('studio.new')}
        </Button>
        <CopyButton text={curlOf(body)} label={t('studio.curl')} />
      </div>
    </div>
  )
}
