import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { ImportResult } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Notice } from '../../ui/page.tsx'
import { useEmbedding } from '../kb/embedding.ts'
import { useHoldings } from './holdings.ts'

/** The result of an import, item by item, in the server's sentences. */
export function Report({ result }: { readonly result: ImportResult }) {
  const { t } = useI18n()
  const { imported, complete, skipped, errors } = result
  const clean = errors.length === 0
  const parts = useHoldings()(imported, imported.settings)
  return (
    <div className="grid gap-3" data-testid="report">
      <Notice
        tone={clean ? 'good' : 'warn'}
        icon={clean ? <CircleCheck size={16} /> : <TriangleAlert size={16} />}
      >
        {parts === '' ? t('transfer.done.none') : t('transfer.done', { parts })}
      </Notice>
      {complete === false && <Notice tone="bad">{t('transfer.incomplete')}</Notice>}
      <Embedding />
      <Lines title={t('transfer.skipped')} lines={skipped} />
      <Lines title={t('transfer.errors')} lines={errors} />
    </div>
  )
}

/** How many of the imported documents wait to be embedded. */
function Embedding() {
  const { t } = useI18n()
  const { data } = useEmbedding()
  if (!data || data.waiting === 0) return null
  const { docs, waiting } = data
  return <Notice>{t('transfer.embedding', { done: docs - waiting, docs })}</Notice>
}

interface LinesProps {
  readonly title: string
  readonly lines: readonly string[]
}

function Lines({ title, lines }: LinesProps) {
  const { words } = useI18n()
  if (lines.length === 0) return null
  return (
    <div>
      <p className="font-medium">{title}</p>
      <ul className="list-disc pl-5 text-ink-2">
        {withIndexKeys(lines).map(({ key, item }) => (
          <li key={key}>{words(item) ?? item}</li>
        ))}
      </ul>
    </div>
  )
}
