import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import {
  MODEL_CHARS_MAX,
  PRICE_MAX,
  TENANT_NAME_CHARS_MAX,
} from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import type { Settings } from '../api/types.ts'
import { temperatureOf } from '../features/apps/draft.ts'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Changeable } from '../ui/changeable.tsx'
import { SelectField, SwitchField, TextField } from '../ui/form.tsx'
import { Id, Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { Unsaved } from '../ui/unsaved.tsx'

export function SettingsPage() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['settings'], queryFn: api.settings.read })
  const me = useQuery({ queryKey: ['me'], queryFn: api.auth.me })
  return (
    <Page title={t('nav.settings')} about={t('settings.about')}>
      <div className="max-w-2xl">
        <Loaded query={query}>{(settings) => <SettingsForm settings={settings} />}</Loaded>
        <Section title={t('settings.account')}>
          <dl className="card divide-y divide-line">
            <div className="flex flex-wrap justify-between gap-x-6 px-5 py-3">
              <dt className="text-ink-3">{t('login.email')}</dt>
              <dd>{me.data?.email}</dd>
            </div>
            <div className="flex flex-wrap justify-between gap-x-6 px-5 py-3">
              <dt className="text-ink-3">{t('settings.tenant')}</dt>
              <dd>
                <Id>{me.data?.tenant_id ?? ''}</Id>
              </dd>
            </div>
          </dl>
        </Section>
      </div>
    </Page>
  )
}

/** Null when the field is empty. */
function priceOf(text: string): number | null | 'wrong' {
  if (text.trim() === '') return null
  const price = Number(text)
  return price >= 0 && price <= PRICE_MAX ? price : 'wrong'
}

function SettingsForm({ settings }: { readonly settings: Settings }) {
  const { t } = useI18n()
  const [name, setName] = useState(settings.name ?? '')
  const [model, setModel] = useState(settings.model ?? '')
  const [thinking, setThinking] = useState(settings.thinking)
  const [titles, setTitles] = useState(settings.titles)
  const [reminders, setReminders] = useState(settings.reminders ?? false)
  const [memory, setMemory] = useState(settings.memory ?? 'off')
  const [mayAsk, setMayAsk] = useState(settings.may_ask ?? false)
  const [ocr, setOcr] = useState(settings.ocr === 'scans')
  const [ocrModel, setOcrModel] = useState(settings.ocr_model ?? '')
  const [temperature, setTemperature] = useState(settings.temperature?.toString() ?? '')
  const save = useAction(api.settings.save, {
    done: 'settings.saved',
    refresh: ['settings', 'me'],
    onDone: (saved) => setName(saved.name ?? ''),
  })
  const [priceIn, setPriceIn] = useState(settings.price_in?.toString() ?? '')
  const [priceOut, setPriceOut] = useState(settings.price_out?.toString() ?? '')
  const value = temperatureOf(temperature)
  const [price_in, price_out] = [priceOf(priceIn), priceOf(priceOut)]
  const wrong = [value, price_in, price_out].includes('wrong')
  const dirty =
    name.trim() !== settings.name ||
    (model.trim() || null) !== settings.model ||
    thinking !== settings.thinking ||
    titles !== settings.titles ||
    reminders !== (settings.reminders ?? false) ||
    memory !== (settings.memory ?? 'off') ||
    mayAsk !== (settings.may_ask ?? false) ||
    ocr !== (settings.ocr === 'scans') ||
    (ocrModel.trim() || null) !== settings.ocr_model ||
    value !== settings.temperature ||
    price_in !== (settings.price_in ?? null) ||
    price_out !== (settings.price_out ?? null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (value === 'wrong' || price_in === 'wrong' || price_out === 'wrong') return
    const own: Settings = {
      ...settings,
      ocr: ocr ? 'scans' : 'off',
      ocr_model: ocrModel.trim() || null,
      name: name.trim(),
      model: model.trim() || null,
      thinking,
      titles,
      reminders,
      memory,
      may_ask: mayAsk,
      temperature: value,
    }
    save.mutate({ ...own, price_in: price_in ?? undefined, price_out: price_out ?? undefined })
  }
  return (
    <form className="card grid gap-6 p-6" onSubmit={submit}>
      <Changeable>
        <NameFields {...{ name, setName, model, setModel }} />
        <TextField
          label={t('field.temperature')}
          hint={t('settings.temperature.hint')}
          placeholder={t('settings.platform')}
          problem={value === 'wrong' ? t('field.temperature.wrong') : null}
          inputMode="decimal"
          value={temperature}
          onText={setTemperature}
        />
        <SwitchField
          label={t('field.thinking')}
          hint={t('settings.thinking.hint')}
          on={thinking}
          onChange={setThinking}
        />
        <SwitchField
          label={t('settings.titles')}
          hint={t('settings.titles.hint')}
          on={titles}
          onChange={setTitles}
        />
        <SwitchField
          label={t('settings.reminders')}
          hint={t('settings.reminders.hint')}
          on={reminders}
          onChange={setReminders}
        />
        <MemoryField memory={memory} onPick={setMemory} />
        <SwitchField
          label={t('settings.may-ask')}
          hint={t('settings.may-ask.hint')}
          on={mayAsk}
          onChange={setMayAsk}
        />
        <ScanFields on={ocr} onChange={setOcr} model={ocrModel} onModel={setOcrModel} />
        <Prices
          wrongIn={price_in === 'wrong'}
          wrongOut={price_out === 'wrong'}
          {...{ priceIn, setPriceIn, priceOut, setPriceOut }}
        />
        <div className="flex justify-end border-t border-line pt-5">
          <Button type="submit" kind="primary" busy={save.isPending} disabled={wrong} idle={!dirty}>
            {t('action.save')}
          </Button>
        </div>
      </Changeable>
      <Unsaved isDirty={() => dirty} />
    </form>
  )
}

interface MemoryProps {
  readonly memory: NonNullable<Settings['memory']>
  readonly onPick: (memory: NonNullable<Settings['memory']>) => void
}

function MemoryField({ memory, onPick }: MemoryProps) {
  const { t } = useI18n()
  return (
    <SelectField
      label={t('memory.switch')}
      hint={t('memory.switch.hint')}
      value={memory}
      choices={[
        { value: 'off', label: t('state.off') },
        { value: 'app', label: t('memory.switch.app') },
        { value: 'tenant', label: t('memory.switch.tenant') },
      ]}
      onPick={(picked) => onPick(picked as typeof memory)}
    />
  )
}

interface NameProps {
  readonly name: string
  readonly model: string
  readonly setName: (name: string) => void
  readonly setModel: (model: string) => void
}

function NameFields({ name, model, setName, setModel }: NameProps) {
  const { t } = useI18n()
  return (
    <>
      <TextField
        label={t('settings.name')}
        hint={t('settings.name.hint')}
        value={name}
        maxLength={TENANT_NAME_CHARS_MAX}
        onText={setName}
      />
      <TextField
        label={t('field.model')}
        hint={t('settings.model.hint')}
        placeholder={t('settings.platform')}
        value={model}
        maxLength={MODEL_CHARS_MAX}
        onText={setModel}
      />
    </>
  )
}

interface ScanProps {
  readonly on: boolean
  readonly model: string
  readonly onChange: (on: boolean) => void
  readonly onModel: (model: string) => void
}

/** Whether scans are read, and by which model. */
function ScanFields({ on, model, onChange, onModel }: ScanProps) {
  const { t } = useI18n()
  return (
    <>
      <SwitchField
        label={t('settings.ocr')}
        hint={t('settings.ocr.hint')}
        on={on}
        onChange={onChange}
      />
      {on && (
        <TextField
          label={t('settings.ocr.model')}
          hint={t('settings.ocr.model.hint')}
          placeholder={t('settings.platform')}
          value={model}
          maxLength={MODEL_CHARS_MAX}
          onText={onModel}
        />
      )}
    </>
  )
}

interface PricesProps {
  readonly priceIn: string
  readonly priceOut: string
  readonly wrongIn: boolean
  readonly wrongOut: boolean
  readonly setPriceIn: (text: string) => void
  readonly setPriceOut: (text: string) => void
}

function Prices({ priceIn, priceOut, wrongIn, wrongOut, setPriceIn, setPriceOut }: PricesProps) {
  const { t } = useI18n()
  return (
    <div className="grid items-start gap-6 sm:grid-cols-2">
      <TextField
        label={t('settings.price.in')}
        hint={t('settings.price.hint')}
        placeholder={t('settings.price.none')}
        problem={wrongIn ? t('settings.price.wrong') : null}
        inputMode="decimal"
        value={priceIn}
        onText={setPriceIn}
      />
      <TextField
        label={t('settings.price.out')}
        placeholder={t('settings.price.none')}
        problem={wrongOut ? t('settings.price.wrong') : null}
        inputMode="decimal"
        value={priceOut}
        onText={setPriceOut}
      />
    </div>
  )
}
