import { useNavigate } from '@tanstack/react-router'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { SystemSetting } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain, useToasts } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { Form } from '../../ui/form-end.tsx'
import { Notice, Section } from '../../ui/page.tsx'
import { findModels } from './find-models.ts'
import { type ModelProvider, PROVIDERS } from './provider-list.ts'
import { TrialResult } from './trial.tsx'

const MARK = 'grid size-6 flex-none place-items-center rounded bg-accent-soft text-accent'

/** Services to choose from; the address is known, and the key lists the models. */
export function Providers({ settings }: { readonly settings: readonly SystemSetting[] }) {
  const { t } = useI18n()
  const address = settings.find(({ name }) => name === 'MB_LLM_BASE_URL')
  const [chosen, setChosen] = useState<ModelProvider | null>(null)
  if (address?.locked) return null
  const other: ModelProvider = { id: 'other', name: t('providers.other'), address: '', keys: '' }
  return (
    <Section title={t('providers.title')} about={t('providers.about')}>
      <div className="card grid gap-5 p-3 sm:p-5">
        <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3 md:grid-cols-4">
          {[...PROVIDERS, other].map((one) => (
            <li key={one.id}>
              <button
                type="button"
                className="btn w-full justify-start px-2 sm:px-3"
                aria-pressed={chosen?.id === one.id}
                onClick={() => setChosen(one)}
              >
                <span className={MARK} aria-hidden>
                  {one.name[0]}
                </span>
                <span className="min-w-0 text-left whitespace-normal">{one.name}</span>
              </button>
            </li>
          ))}
        </ul>
        {chosen && <KeyForm key={chosen.id} provider={chosen} />}
      </div>
    </Section>
  )
}

/** So many characters at once were not typed. */
const PASTED_CHARS_MIN = 8

/** How much of a text came at once, in place of whatever was selected. */
function comeAtOnce(text: string, before: string): number {
  const most = Math.min(text.length, before.length)
  let start = 0
  while (start < most && text[start] === before[start]) start++
  let end = 0
  while (end < most - start && text.at(-1 - end) === before.at(-1 - end)) end++
  return text.length - start - end
}

interface Chosen {
  readonly address: string
  readonly key: string
  readonly model: string
}

/** Saves the model and asks it something: a service may list a model, and answer nobody. */
function useChosen({ address, key, model }: Chosen) {
  const { t } = useI18n()
  const toasts = useToasts()
  const navigate = useNavigate()
  return useAction(
    async () => {
      await api.system.save({
        MB_LLM_BASE_URL: address,
        MB_LLM_API_KEY: key || null,
        MB_LLM_MODEL: model,
      })
      return api.system.test('llm')
    },
    {
      refresh: ['system', 'status', 'provider', 'models'],
      shows: () => true,
      onDone({ ok }) {
        if (!ok) return
        toasts.show('good', t('system.local.used'))
        void navigate({ to: '/app' })
      },
    },
  )
}

/** The key of a service, or address and key of one that is not in the list, and a model of it. */
function KeyForm({ provider }: { readonly provider: ModelProvider }) {
  const { t } = useI18n()
  const explain = useExplain()
  const isOther = provider.address === ''
  const [typed, setTyped] = useState('')
  const [key, setKey] = useState('')
  const [model, setModel] = useState('')
  const address = isOther ? typed.trim() : provider.address
  const list = useAction(
    (asked: string) =>
      findModels((at) => api.system.models({ base_url: at, api_key: asked.trim() }), address),
    {
      shows: () => true,
      // Another key may be pasted before the first one is answered.
      several: true,
      onDone(found, asked) {
        if (asked !== key) return
        if (isOther) setTyped(found.address)
        setModel(found.listing.models[0] ?? '')
      },
    },
  )
  const isOfKey = list.variables === key
  const models = (isOfKey && list.data?.listing.models) || []
  const use = useChosen({ address, key: key.trim(), model: model.trim() })
  /** What was tried before says nothing of another choice. */
  const pick = (name: string) => {
    setModel(name)
    use.reset()
  }
  const reason = isOfKey && list.data?.listing.error_class
  const fault = (isOfKey && list.error) || use.error
  const isWhole = address !== '' && (isOther || key.trim() !== '')
  const namesNone = reason === 'no_list'
  const send = () => {
    if (model.trim() === '') list.mutate(key)
    else use.mutate(undefined)
  }

  return (
    <Form className="grid gap-5 rounded-lg bg-sunken p-4" isWhole={isWhole} onSend={send}>
      {isOther && (
        <TextField
          label={t('system.kind.BASE_URL')}
          hint={t('providers.other.hint')}
          placeholder="https://models.example.com/v1"
          inputMode="url"
          required
          autoFocus
          value={typed}
          onText={(text) => {
            setTyped(text)
            pick('')
            list.reset()
          }}
        />
      )}
      <TextField
        label={isOther ? t('system.kind.API_KEY') : t('providers.key', { name: provider.name })}
        hint={
          !isOther && (
            <a href={provider.keys} target="_blank" rel="noreferrer" className="text-accent">
              {t('providers.make')} <ExternalLink size={13} className="inline" aria-hidden />
            </a>
          )
        }
        type="password"
        autoComplete="off"
        autoFocus={!isOther}
        required={!isOther}
        value={key}
        onText={(text) => {
          // A key that was pasted is whole: its models are listed without a click.
          const isPasted = comeAtOnce(text, key) >= PASTED_CHARS_MIN
          setKey(text)
          pick('')
          if (isPasted && address !== '') list.mutate(text)
        }}
      />
      {models.length > 0 && model !== '' && (
        <SelectField
          label={t('system.kind.MODEL')}
          value={model}
          choices={models.map((id) => ({ value: id, label: id }))}
          onPick={pick}
        />
      )}
      {namesNone && <TextField label={t('system.kind.MODEL')} value={model} onText={pick} />}
      <div aria-live="polite" className="contents">
        {fault && <Notice tone="bad">{explain(fault)}</Notice>}
        {reason && <Notice tone="bad">{t(classKey(reason))}</Notice>}
        {use.data?.ok === false && (
          <div className="grid gap-2">
            <TrialResult result={use.data} />
            <p className="text-note">{t('providers.unanswered')}</p>
          </div>
        )}
      </div>
      <Button
        type="submit"
        kind="primary"
        className="justify-self-end"
        busy={list.isPending || use.isPending}
      >
        {t(model.trim() === '' ? 'providers.list' : 'providers.use')}
      </Button>
    </Form>
  )
}

const KNOWN = ['timeout', 'connection_failed', 'unauthorized', 'no_list']

/** The sentence for why there is no list of models. */
export const classKey = (reason: string): Key =>
  (KNOWN.includes(reason) ? `models.class.${reason}` : 'models.class.other') as Key
