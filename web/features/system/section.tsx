import { ChevronDown, CircleCheck, ListTree, Lock, TriangleAlert, Zap } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { SystemSetting } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { LocalServers } from './local-servers.tsx'
import { ModelPackFiles } from './model-pack.tsx'
import type { SystemSection } from './parts.ts'
import { SettingField } from './setting-field.tsx'
import { SourceMark } from './source-mark.tsx'

interface SectionProps {
  readonly section: SystemSection
  readonly settings: readonly SystemSetting[]
}

const SUMMARY = 'target flex cursor-pointer list-none flex-wrap items-center gap-x-3 gap-y-1 p-5'

/** A form for the settings of one part of the server, with a button to try it. */
export function SystemSectionForm({ section, settings }: SectionProps) {
  const { t } = useI18n()
  const form = useSectionForm(settings)
  const address = settings.find(({ name }) => name.endsWith('_BASE_URL'))
  const locked = settings.every((setting) => setting.locked)
  const [main] = settings
  const source = settings.some((one) => one.source === 'console') ? 'console' : main?.source
  return (
    <details className="card group min-w-0" open={section.id === 'llm'}>
      <summary className={SUMMARY}>
        <h2 className="text-base">{t(`system.${section.id}`)}</h2>
        <SourceMark source={source ?? 'default'} />
        <ChevronDown size={16} className="ml-auto text-ink-3 group-open:rotate-180" aria-hidden />
        <span className="w-full text-note text-ink-2">{t(`system.${section.id}.about`)}</span>
      </summary>
      <form className="grid gap-5 border-line border-t p-5" onSubmit={form.submit}>
        {section.id === 'llm' && !address?.locked && (
          <>
            <LocalServers />
            <ModelPackFiles />
          </>
        )}
        {settings.map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            value={form.values[setting.name]}
            models={setting.name.endsWith('_MODEL') ? form.models : []}
            problem={form.problemOf(setting.name)}
            onChange={(value) => form.set(setting.name, value)}
          />
        ))}
        {address && <ModelList form={form} address={address} />}
        <div className="flex flex-wrap justify-end gap-2">
          {section.part && <Trial part={section.part} />}
          {locked ? (
            <p className="inline-flex items-center gap-2 text-note text-ink-3">
              <Lock size={15} aria-hidden />
              {t('system.locked')}
            </p>
          ) : (
            <Button type="submit" kind="primary" busy={form.saving} idle={!form.isDirty}>
              {t('action.save')}
            </Button>
          )}
        </div>
      </form>
    </details>
  )
}

/** Whether the server refused a value. */
const isRefusal = (error: Error) => error instanceof ApiError && error.status === 400

type Form = ReturnType<typeof useSectionForm>

/** The typed values by name; untouched settings are missing. */
function useSectionForm(settings: readonly SystemSetting[]) {
  const explain = useExplain()
  const [values, setValues] = useState<Readonly<Record<string, string | null>>>({})
  const [models, setModels] = useState<readonly string[]>([])
  const save = useAction(api.system.save, {
    done: 'system.saved',
    refresh: ['system', 'status', 'provider', 'agent'],
    shows: isRefusal,
    onDone: () => setValues({}),
  })
  const changed = Object.entries(values).filter(([name, value]) => {
    const known = settings.find((setting) => setting.name === name)
    return value !== (known?.value ?? (value === '' ? '' : null))
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (changed.length > 0) save.mutate(Object.fromEntries(changed))
  }
  const field = save.error instanceof ApiError ? save.error.error?.params.field : undefined
  const names = settings.map(({ name }) => name)
  return {
    values,
    models,
    setModels,
    submit,
    saving: save.isPending,
    isDirty: changed.length > 0,
    set: (name: string, value: string | null) => setValues({ ...values, [name]: value }),
    /** Shown at the field that the server names, else at the first one. */
    problemOf(name: string): string | null {
      if (!save.error || !isRefusal(save.error)) return null
      const at = field !== undefined && names.includes(field) ? field : names[0]
      return at === name ? explain(save.error) : null
    },
  }
}

interface ModelListProps {
  readonly form: Form
  readonly address: SystemSetting
}

/** Asks the address, as typed, for its models, which the field of the model then offers. */
function ModelList({ form, address }: ModelListProps) {
  const { t } = useI18n()
  const key = form.values[address.name.replace('_BASE_URL', '_API_KEY')]
  const url = form.values[address.name] ?? address.value ?? ''
  const list = useAction(
    () => api.system.models({ base_url: url, ...(key ? { api_key: key } : {}) }),
    { onDone: ({ models }) => form.setModels(models) },
  )
  return (
    <div className="grid gap-3">
      <Button
        className="justify-self-start"
        size="small"
        icon={<ListTree size={15} aria-hidden />}
        busy={list.isPending}
        idle={url === ''}
        onClick={() => list.mutate(undefined)}
      >
        {t('system.models')}
      </Button>
      <div aria-live="polite">
        {list.data && (
          <Notice
            tone={list.data.error_class === null ? 'good' : 'warn'}
            icon={list.data.error_class === null ? <CircleCheck size={16} /> : undefined}
          >
            {list.data.error_class === null
              ? t('system.models.found', { count: list.data.models.length })
              : t('system.models.none', { reason: list.data.error_class })}
          </Notice>
        )}
      </div>
    </div>
  )
}

/** Tries the part once with the saved settings. */
function Trial({ part }: { readonly part: string }) {
  const { t } = useI18n()
  const id = useId()
  const trial = useAction(() => api.system.test(part))
  return (
    <>
      <div aria-live="polite" id={id} className="min-w-0 basis-full">
        {trial.data && (
          <Notice
            tone={trial.data.ok ? 'good' : 'bad'}
            icon={trial.data.ok ? <CircleCheck size={16} /> : <TriangleAlert size={16} />}
          >
            {trial.data.ok
              ? t('system.test.ok', { ms: trial.data.latency_ms, text: trial.data.text })
              : t('system.test.failed', { text: trial.data.text })}
          </Notice>
        )}
      </div>
      <Button
        icon={<Zap size={16} aria-hidden />}
        busy={trial.isPending}
        aria-describedby={id}
        onClick={() => trial.mutate(undefined)}
      >
        {t('system.test')}
      </Button>
    </>
  )
}
