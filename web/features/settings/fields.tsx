import { useMemo } from 'react'
import { MODEL_CHARS_MAX, TENANT_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import type { Settings } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { SelectField, SwitchField, TextField } from '../../ui/form.tsx'
import { zonesWith } from '../schedules/zone.ts'

interface MemoryProps {
  readonly memory: NonNullable<Settings['memory']>
  readonly onPick: (memory: NonNullable<Settings['memory']>) => void
}

export function MemoryField({ memory, onPick }: MemoryProps) {
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

export function NameFields({ name, model, setName, setModel }: NameProps) {
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

interface PlaceProps {
  readonly zone: string
  readonly language: Language
  readonly setZone: (zone: string) => void
  readonly setLanguage: (language: Language) => void
}

type Language = NonNullable<Settings['language']>

/** By what prompts tell the time. */
export function PlaceFields({ zone, language, setZone, setLanguage }: PlaceProps) {
  const { t } = useI18n()
  const zones = useMemo(() => zonesWith(zone || 'UTC').filter((name) => name !== 'UTC'), [zone])
  return (
    <div className="grid items-start gap-6 sm:grid-cols-2">
      <SelectField
        label={t('schedules.zone')}
        hint={t('settings.zone.hint')}
        value={zone}
        choices={[{ value: '', label: 'UTC' }, ...zones.map((value) => ({ value, label: value }))]}
        onPick={setZone}
      />
      <SelectField
        label={t('settings.language')}
        hint={t('settings.language.hint')}
        value={language}
        choices={[
          { value: 'zh', label: '中文' },
          { value: 'en', label: 'English' },
        ]}
        onPick={(picked) => setLanguage(picked as Language)}
      />
    </div>
  )
}

interface ScanProps {
  readonly on: boolean
  readonly model: string
  readonly onChange: (on: boolean) => void
  readonly onModel: (model: string) => void
}

/** Whether scans are read, and by which model. */
export function ScanFields({ on, model, onChange, onModel }: ScanProps) {
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

export function Prices({
  priceIn,
  priceOut,
  wrongIn,
  wrongOut,
  setPriceIn,
  setPriceOut,
}: PricesProps) {
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
