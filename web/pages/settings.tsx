import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { PRICE_MAX } from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import type { Settings } from '../api/types.ts'
import { temperatureOf } from '../features/apps/draft.ts'
import {
  MemoryField,
  NameFields,
  PlaceFields,
  Prices,
  ScanFields,
} from '../features/settings/fields.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Changeable } from '../ui/changeable.tsx'
import { SwitchField, TextField } from '../ui/form.tsx'
import { Form } from '../ui/form-end.tsx'
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

/** The values of the form, as typed. */
const formOf = (settings: Settings) => ({
  name: settings.name ?? '',
  model: settings.model ?? '',
  thinking: settings.thinking,
  titles: settings.titles,
  reminders: settings.reminders ?? false,
  memory: settings.memory ?? ('off' as const),
  mayAsk: settings.may_ask ?? false,
  ocr: settings.ocr === 'scans',
  ocrModel: settings.ocr_model ?? '',
  zone: settings.time_zone ?? '',
  language: settings.language ?? ('zh' as const),
  temperature: settings.temperature?.toString() ?? '',
  priceIn: settings.price_in?.toString() ?? '',
  priceOut: settings.price_out?.toString() ?? '',
})
type Fields = ReturnType<typeof formOf>

/** What the form stands for; a number that is none stays a word. */
const valuesOf = ({ model, ocrModel, name, temperature, priceIn, priceOut, ...rest }: Fields) => ({
  ...rest,
  name: name.trim(),
  model: model.trim() || null,
  ocrModel: ocrModel.trim() || null,
  temperature: temperatureOf(temperature),
  priceIn: priceOf(priceIn),
  priceOut: priceOf(priceOut),
})

const isSame = (one: Fields, other: Fields) =>
  JSON.stringify(valuesOf(one)) === JSON.stringify(valuesOf(other))

const numberOf = (value: number | null | 'wrong') => (value === 'wrong' ? null : value)

/** The settings with what the form stands for. */
function requestOf(settings: Settings, form: Fields) {
  const { temperature, priceIn, priceOut, ocr, ocrModel, mayAsk, zone, language, ...plain } =
    valuesOf(form)
  return {
    ...settings,
    ...plain,
    may_ask: mayAsk,
    time_zone: zone || undefined,
    language,
    ocr: ocr ? ('scans' as const) : ('off' as const),
    ocr_model: ocrModel,
    temperature: numberOf(temperature),
    price_in: numberOf(priceIn) ?? undefined,
    price_out: numberOf(priceOut) ?? undefined,
  }
}

/** Read again, as a colleague may have changed since what was not typed here. */
async function saved(typed: Partial<Fields>): Promise<Settings> {
  const now = await api.settings.read()
  return api.settings.save(requestOf(now, { ...formOf(now), ...typed }))
}

/** What was not typed follows the settings, which a colleague may change meanwhile. */
function SettingsForm({ settings }: { readonly settings: Settings }) {
  const { t } = useI18n()
  const client = useQueryClient()
  const [typed, setTyped] = useState<Partial<Fields>>({})
  const form: Fields = { ...formOf(settings), ...typed }
  const set = (more: Partial<Fields>) => setTyped((before) => ({ ...before, ...more }))
  const save = useAction(saved, {
    done: 'settings.saved',
    refresh: ['settings', 'me'],
    onDone: (now) => {
      client.setQueryData(['settings'], now)
      // More may have been typed while it was saved.
      setTyped((all) => (isSame({ ...formOf(now), ...all }, formOf(now)) ? {} : all))
    },
  })
  const { temperature, priceIn, priceOut } = valuesOf(form)
  const wrong = [temperature, priceIn, priceOut].includes('wrong')
  const dirty = !isSame(form, formOf(settings))
  return (
    <Form className="card grid gap-6 p-6" isWhole={!wrong} onSend={() => save.mutate(typed)}>
      <Changeable>
        <NameFields
          name={form.name}
          model={form.model}
          setName={(name) => set({ name })}
          setModel={(model) => set({ model })}
        />
        <PlaceFields
          zone={form.zone}
          language={form.language}
          setZone={(zone) => set({ zone })}
          setLanguage={(language) => set({ language })}
        />
        <TextField
          label={t('field.temperature')}
          hint={t('settings.temperature.hint')}
          placeholder={t('settings.platform')}
          problem={temperature === 'wrong' ? t('field.temperature.wrong') : null}
          inputMode="decimal"
          value={form.temperature}
          onText={(text) => set({ temperature: text })}
        />
        <SwitchField
          label={t('field.thinking')}
          hint={t('settings.thinking.hint')}
          on={form.thinking}
          onChange={(thinking) => set({ thinking })}
        />
        <SwitchField
          label={t('settings.titles')}
          hint={t('settings.titles.hint')}
          on={form.titles}
          onChange={(titles) => set({ titles })}
        />
        <SwitchField
          label={t('settings.reminders')}
          hint={t('settings.reminders.hint')}
          on={form.reminders}
          onChange={(reminders) => set({ reminders })}
        />
        <MemoryField memory={form.memory} onPick={(memory) => set({ memory })} />
        <SwitchField
          label={t('settings.may-ask')}
          hint={t('settings.may-ask.hint')}
          on={form.mayAsk}
          onChange={(on) => set({ mayAsk: on })}
        />
        <ScanFields
          on={form.ocr}
          onChange={(on) => set({ ocr: on })}
          model={form.ocrModel}
          onModel={(model) => set({ ocrModel: model })}
        />
        <Prices
          wrongIn={priceIn === 'wrong'}
          wrongOut={priceOut === 'wrong'}
          priceIn={form.priceIn}
          priceOut={form.priceOut}
          setPriceIn={(text) => set({ priceIn: text })}
          setPriceOut={(text) => set({ priceOut: text })}
        />
        <div className="flex justify-end border-t border-line pt-5">
          <Button type="submit" kind="primary" busy={save.isPending} idle={!dirty}>
            {t('action.save')}
          </Button>
        </div>
      </Changeable>
      <Unsaved isDirty={() => dirty} />
    </Form>
  )
}
