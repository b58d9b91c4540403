import { useQuery } from '@tanstack/react-query'
import { BookText, PenLine, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { KB_DOCS_MAX } from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import type { KbDoc } from '../api/types.ts'
import { ChunksDialog, type Passage } from '../features/kb/chunks-dialog.tsx'
import { DropZone } from '../features/kb/drop-zone.tsx'
import { SearchPanel } from '../features/kb/search-panel.tsx'
import { useUploads } from '../features/kb/uploads.ts'
import { WriteDialog } from '../features/kb/write-dialog.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Ago, Notice, Page, Section } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

export function Kb() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['kb'], queryFn: api.kb.list })
  const uploads = useUploads()
  const [writing, setWriting] = useState(false)
  const [passage, setPassage] = useState<Passage | null>(null)
  const count = query.data?.docs.length ?? 0
  const write = (
    <Button icon={<PenLine size={16} aria-hidden />} onClick={() => setWriting(true)}>
      {t('kb.write')}
    </Button>
  )
  return (
    <Page title={t('nav.kb')} about={t('kb.about')} actions={write}>
      {count >= KB_DOCS_MAX ? (
        <Notice tone="warn">{t('kb.full', { max: KB_DOCS_MAX })}</Notice>
      ) : (
        <DropZone {...uploads} />
      )}
      <Section title={t('kb.docs')} about={t('kb.docs.count', { count, max: KB_DOCS_MAX })}>
        <div className="card overflow-hidden">
          <Loaded query={query}>
            {({ docs }) =>
              docs.length === 0 ? (
                <Empty icon={<BookText />} title={t('kb.empty')} text={t('kb.empty.text')} />
              ) : (
                <DocTable docs={docs} onOpen={setPassage} />
              )
            }
          </Loaded>
        </div>
      </Section>
      <Section title={t('kb.search')} about={t('kb.search.about')}>
        <SearchPanel onOpen={setPassage} />
      </Section>
      <WriteDialog open={writing} onClose={() => setWriting(false)} />
      <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
    </Page>
  )
}

interface DocTableProps {
  readonly docs: readonly KbDoc[]
  readonly onOpen: (passage: Passage) => void
}

function DocTable({ docs, onOpen }: DocTableProps) {
  const { t, locale } = useI18n()
  const [asked, setAsked] = useState<KbDoc | null>(null)
  const remove = useAction(api.kb.remove, {
    done: 'kb.deleted',
    refresh: ['kb'],
    onDone: () => setAsked(null),
  })
  return (
    <>
      <table className="rows stack">
        <thead>
          <tr>
            <th>{t('kb.title')}</th>
            <th className="num">{t('kb.chars')}</th>
            <th className="num">{t('kb.chunks')}</th>
            <th>{t('field.created')}</th>
            <th>
              <span className="sr-only">{t('field.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {docs.map((doc) => (
            <tr key={doc.id}>
              <td className="lead">
                <button
                  type="button"
                  className="max-w-full truncate text-left underline-offset-2 hover:underline"
                  onClick={() => onOpen({ docId: doc.id, title: doc.title, seq: null })}
                >
                  {doc.title}
                </button>
              </td>
              <td className="num" data-label={t('kb.chars')}>
                {doc.char_count.toLocaleString(locale)}
              </td>
              <td className="num" data-label={t('kb.chunks')}>
                {doc.chunk_count}
              </td>
              <td className="text-ink-2" data-label={t('field.created')}>
                <Ago at={doc.created_at} />
              </td>
              <td className="actions num">
                <Button
                  kind="quiet"
                  size="small"
                  icon={<Trash2 size={15} aria-hidden />}
                  aria-label={t('kb.delete.title', { title: doc.title })}
                  onClick={() => setAsked(doc)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Confirm
        title={t('kb.delete.title', { title: asked?.title ?? '' })}
        loss={t('kb.delete.loss')}
        action={t('action.delete')}
        open={asked !== null}
        busy={remove.isPending}
        onConfirm={() => asked && remove.mutate(asked.id)}
        onClose={() => setAsked(null)}
      />
    </>
  )
}
