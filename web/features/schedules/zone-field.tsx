import { useMemo } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { SelectField } from '../../ui/form.tsx'
import { zoneHere, zonesWith, zoneWords } from './zone.ts'

interface ZoneFieldProps {
  readonly zone: string
  readonly onZone: (zone: string) => void
}

/** The zone in which the times of a schedule hold. */
export function ZoneField({ zone, onZone }: ZoneFieldProps) {
  const { t, locale } = useI18n()
  const choices = useMemo(() => zonesWith(zone).map((value) => ({ value, label: value })), [zone])
  const here = zoneHere()
  const said = { zone: zoneWords(zone, locale), here: zoneWords(here, locale) }
  return (
    <SelectField
      label={t('schedules.zone')}
      hint={t(zone === here ? 'schedules.zone.here' : 'schedules.zone.other', said)}
      value={zone}
      choices={choices}
      onPick={onZone}
    />
  )
}
