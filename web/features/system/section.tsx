import { ChevronDown, CircleCheck, ListTree, Zap } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { LastTest, SystemSetting } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { dropsKey, keyNameOf } from './dropped-key.ts'
import { LocalServers } from './local-servers.tsx'
import { Locked } from './locked.tsx'
import { ModelPackFiles } from './model-pack.tsx'
import type { SystemSection } from './parts.ts'
import { classKey } from './providers.tsx'
import { SettingField } from './setting-field.tsx'
import { useSettingWords } from './setting-words.ts'
import { SourceMark } from './source-mark.tsx'
import { LastTrial, TrialResult } from './trial.tsx'
import { refusedSetting, useRefusal } from './wrong-value.ts'

interface SectionProps {
  readonly section: SystemSection
  readonly settings: readonly SystemSetting[]
  /** How the part was last tried; absent before. */
  readonly last?: LastTest | undefined
}

const SUMMARY = 'target flex cursor-pointer list-none flex-wrap items-center gap-x-3 gap-y-1 p-5'

/** A form for the settings of one part of the server; saving tries the part. */
export function SystemSectionForm({ section, settings, last }: SectionProps) {
  const { t } = useI18n()
  const form = useSectionForm(settings, section.part)
  const address = settings.find(({ name }) => name.endsWith('_BASE_URL'))
  const locked = settings.every((setting) => setting.locked)
  const [main] = settings
  const said = useSettingWords().summaryOf(section, settings)
  const source = settings.some((one) => one.source === 'console') ? 'console' : main?.source
  return (
    <details className="card group/section min-w-0">
      <summary className={SUMMARY}>
        <h2 className="text-base">{t(`system.${section.id}`)}</h2>
        {source === 'environment' && <SourceMark />}
        <span className="ml-auto inline-flex items-center gap-1 text-note text-accent">
          {t('server.change')}
          <ChevronDown size={16} className="group-open/section:rotate-180" aria-hidden />
        </span>
        <span className="grid w-full gap-x-6 gap-y-0.5 break-words sm:grid-cols-2">
          {withIndexKeys(said).map(({ key, item }) => (
            <span key={key} className={said.length === 1 ? 'sm:col-span-2' : 'text-note'}>
              {item}
            </span>
          ))}
        </span>
        {last && <LastTrial test={last} />}
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
        {form.dropsKey && <Notice tone="warn">{t('system.key.dropped')}</Notice>}
        {address && <ModelList form={form} address={address} />}
        {!locked && (
          <details className="text-note">
            <summary className="target cursor-pointer text-ink-3">{t('server.file')}</summary>
            <p className="mt-2 break-all">
              {settings.map(({ name }) => (
                <code key={name} className="mr-3 inline-block">
                  {name}
                </code>
              ))}
            </p>
          </details>
        )}
        <div aria-live="polite">{form.tried && <TrialResult result={form.tried} />}</div>
        <div className="flex flex-wrap justify-end gap-2">
          {section.part && (
            <Button icon={<Zap size={16} aria-hidden />} busy={form.trying} onClick={form.test}>
              {t('system.test')}
            </Button>
          )}
          {locked ? (
            <Locked names={settings.map(({ name }) => name)} />
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

type Changes = Readonly<Record<string, string | null>>

/** Whether the server refused a value. */
const isRefusal = (error: Error) => error instanceof ApiError && error.status === 400

type Form = ReturnType<typeof useSectionForm>

/** The typed values by name; untouched settings are missing. */
function useSectionForm(settings: readonly SystemSetting[], part: string | null) {
  const wordsOf = useRefusal()
  const [values, setValues] = useState<Changes>({})
  const [models, setModels] = useState<readonly string[]>([])
  const trial = useAction((tried: string) => api.system.test(tried), { refresh: ['system'] })
  const save = useAction((sent: Changes) => api.system.save(sent), {
    done: 'system.saved',
    refresh: ['system', 'status', 'provider', 'models'],
    shows: isRefusal,
    onDone: (_saved, sent) => {
      // What was typed while it was saved is not saved yet.
      setValues((now) =>
        Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== sent[name])),
      )
      if (part !== null) trial.mutate(part)
    },
  })
  const changed = Object.entries(values).filter(([name, value]) => {
    const known = settings.find((setting) => setting.name === name)
    return value !== (known?.value ?? (value === '' ? '' : null))
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (changed.length > 0) save.mutate(Object.fromEntries(changed))
  }
  const field = refusedSetting(save.error)
  const has = (name: string) => {
    const saved = settings.find((setting) => setting.name === name)
    return (values[name] ?? saved?.value ?? saved?.secret_tail ?? '') !== ''
  }
  const names = settings.map(({ name }) => name)
  return {
    values,
    models,
    setModels,
    submit,
    saving: save.isPending,
    isDirty: changed.length > 0,
    dropsKey: dropsKey(settings, values),
    tried: trial.data ?? null,
    trying: trial.isPending,
    test: () => {
      if (part !== null) trial.mutate(part)
    },
    set: (name: string, value: string | null) => setValues((now) => ({ ...now, [name]: value })),
    /** Shown at the field that the server names, else at the first one. */
    problemOf(name: string): string | null {
      if (!save.error || !isRefusal(save.error)) return null
      const at = field !== undefined && names.includes(field) ? field : names[0]
      return at === name ? wordsOf(save.error, has) : null
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
  const key = form.values[keyNameOf(address.name)]
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
              : t(classKey(list.data.error_class))}
          </Notice>
        )}
      </div>
    </div>
  )
}
