import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { type Choice, SelectField } from '../../ui/form.tsx'
import { endsOf } from '../keys/names.ts'
import { KINDS, type Kind } from './kinds.ts'

/** The filters in the page URL, so that a view can be shared. */
export interface AuditFilters {
  /** Address of a person, or id of a key. */
  readonly actor: string
  /** The first part of actions. */
  readonly action: string
}

const NO_FILTERS: AuditFilters = { actor: '', action: '' }

/** More keys than these make no list that people choose from. */
const KEYS_MAX = 100

/** Whoever can have changed something: people first, then keys by name. */
function useActors(chosen: string): readonly Choice[] {
  const { t } = useI18n()
  const members = useQuery({ queryKey: ['members'], queryFn: api.members.list }).data?.members ?? []
  const keys = useQuery({ queryKey: ['keys'], queryFn: api.keys.list }).data?.keys ?? []
  const people = members.map(({ email }) => ({ value: email, label: email }))
  const named = keys.slice(0, KEYS_MAX).map((key) => ({
    value: key.id,
    label: t('audit.key', { name: key.name || endsOf(key) }),
  }))
  const known = [...people, ...named]
  const isKnown = chosen === '' || known.some(({ value }) => value === chosen)
  return isKnown ? known : [...known, { value: chosen, label: chosen }]
}

interface FilterProps {
  readonly filters: AuditFilters
  readonly onChange: (filters: AuditFilters) => void
}

/** Whose changes, and of which kind. */
export function AuditFilterBar({ filters, onChange }: FilterProps) {
  const { t } = useI18n()
  const all = { value: '', label: t('logs.all') }
  const actors = useActors(filters.actor)
  const kinds = KINDS.map((kind: Kind) => ({ value: kind, label: t(`audit.kind.${kind}`) }))
  return (
    <div className="card log-filters">
      <SelectField
        label={t('audit.who')}
        value={filters.actor}
        choices={[all, ...actors]}
        onPick={(actor) => onChange({ ...filters, actor })}
      />
      <SelectField
        label={t('audit.kind')}
        value={filters.action}
        choices={[all, ...kinds]}
        onPick={(action) => onChange({ ...filters, action })}
      />
      {(filters.actor || filters.action) && (
        <div className="col-span-full">
          <Button kind="quiet" size="small" onClick={() => onChange(NO_FILTERS)}>
            {t('logs.clear')}
          </Button>
        </div>
      )}
    </div>
  )
}
