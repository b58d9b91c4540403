import { useQuery } from '@tanstack/react-query'
import { memories } from '../../api/memories.ts'
import type { App } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useOwns } from '../../lib/rights.ts'
import { Ago, Section } from '../../ui/page.tsx'
import { useSubjectName } from '../memories/subject-name.ts'

/** Of whom the app remembers how much; owners alone see it. */
export function AppMemory({ app: { id } }: { readonly app: App }) {
  const { t } = useI18n()
  const isOwner = useOwns()
  const query = useQuery({
    queryKey: ['memories', 'subjects', id],
    queryFn: () => memories.subjects(id),
    enabled: isOwner,
  })
  const subjects = query.data ?? []
  if (subjects.length === 0) return null
  return (
    <Section title={t('memory.subjects')}>
      <ul className="card divide-y divide-line">
        {subjects.map(({ subject, count, last_at }) => (
          <li key={subject} className="flex flex-wrap justify-between gap-4 px-5 py-3">
            <Subject subject={subject} />
            <span className="text-ink-3">
              {count} · <Ago at={last_at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Subject({ subject }: { readonly subject: string }) {
  const { t } = useI18n()
  const called = useSubjectName(subject)
  return <span className="break-all">{subject === 'user:*' ? t('memory.persons') : called}</span>
}
