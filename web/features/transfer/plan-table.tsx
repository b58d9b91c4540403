import { type Key, useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Badge, type Tone } from '../../ui/page.tsx'
import type { Fate, Planned } from './plan.ts'

const FATES: Readonly<Record<Fate, readonly [Key, Tone | undefined]>> = {
  new: ['transfer.fate.new', 'good'],
  overwrite: ['transfer.fate.overwrite', 'warn'],
  skip: ['transfer.fate.skip', undefined],
  same: ['transfer.fate.same', undefined],
}
const KINDS: Readonly<Record<Planned['kind'], Key>> = {
  persona: 'transfer.kind.persona',
  app: 'transfer.kind.app',
  settings: 'transfer.kind.settings',
  mcp_server: 'transfer.kind.mcp_server',
  collection: 'transfer.kind.collection',
  prompt: 'transfer.kind.prompt',
  schedule: 'transfer.kind.schedule',
  webhook: 'transfer.kind.webhook',
}

export function PlanTable({ planned }: { readonly planned: readonly Planned[] }) {
  const { t } = useI18n()
  return (
    <table className="rows" aria-label={t('transfer.plan')}>
      <thead>
        <tr>
          <th>{t('transfer.kind')}</th>
          <th>{t('field.name')}</th>
          <th>{t('transfer.fate')}</th>
        </tr>
      </thead>
      <tbody>
        {withIndexKeys(planned).map(({ key, item: { kind, name, fate } }) => (
          <tr key={key}>
            <td className="text-ink-2">{t(KINDS[kind])}</td>
            <td>{name || '—'}</td>
            <td>
              <Badge tone={FATES[fate][1]}>{t(FATES[fate][0])}</Badge>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
