import { COLLECTIONS_LISTED_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { SwitchField } from '../../ui/form.tsx'
import { NO_COLLECTION, useLoadedCollections } from '../kb/collections.ts'
import { useEmbedding } from '../kb/embedding.ts'

interface CollectionPickerProps {
  /** Null: all documents. */
  readonly collections: readonly string[] | null
  readonly onChange: (collections: readonly string[] | null) => void
}

/** Which documents the app sees, and how many they are. Deleted collections stay listed. */
export function CollectionPicker({ collections, onChange }: CollectionPickerProps) {
  const { t } = useI18n()
  const loaded = useLoadedCollections()
  const known = loaded ?? []
  const all = useEmbedding().data?.docs ?? 0
  if (known.length === 0 && collections === null) return null
  const chosen = collections ?? []
  const names = new Map([
    [NO_COLLECTION, t('kb.collections.none')],
    ...known.map(({ id, name }) => [id, name] as const),
  ])
  const ids = [...new Set([...names.keys(), ...chosen])]
  const counts = new Map(known.map(({ id, doc_count }) => [id, doc_count]))
  const inAny = known.reduce((sum, { doc_count }) => sum + doc_count, 0)
  const countOf = (id: string) =>
    id === NO_COLLECTION ? Math.max(0, all - inAny) : (counts.get(id) ?? 0)
  const seen = chosen.reduce((sum, id) => sum + countOf(id), 0)
  const toggle = (id: string, on: boolean) =>
    onChange(ids.filter((one) => (one === id ? on : chosen.includes(one))))
  return (
    <div className="grid gap-3">
      <SwitchField
        label={t('apps.collections.every')}
        hint={
          collections === null
            ? t('apps.collections.all', { count: all })
            : t('apps.collections.some', { count: seen, all })
        }
        on={collections === null}
        onChange={(all) => onChange(all ? null : [])}
      />
      {collections !== null && (
        <fieldset className="grid gap-2 rounded-lg bg-sunken p-4 sm:grid-cols-2">
          <legend className="sr-only">{t('apps.collections')}</legend>
          {ids.map((id) => (
            <label key={id} className="flex items-center gap-2.5 text-note">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                checked={chosen.includes(id)}
                disabled={chosen.length >= COLLECTIONS_LISTED_MAX && !chosen.includes(id)}
                onChange={(event) => toggle(id, event.target.checked)}
              />
              {names.has(id)
                ? t('apps.collections.one', { name: names.get(id) ?? '', count: countOf(id) })
                : loaded
                  ? t('apps.collections.gone')
                  : '…'}
            </label>
          ))}
        </fieldset>
      )}
    </div>
  )
}
