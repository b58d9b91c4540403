import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { libraryApi } from '../../api/library.ts'
import type { KbCitation } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Ago } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'

/** Shown before all are asked for. */
const FIRST = 5

/** Where it stands beside the text; above it, it is folded away. */
const BESIDE = '(min-width: 64rem)'

/** The turns in which a document was cited, with links to their conversations. */
export function Cited({ docId }: { readonly docId: string }) {
  const { t } = useI18n()
  const [isWhole, setWhole] = useState(false)
  const [isOpen, setOpen] = useState(() => matchMedia(BESIDE).matches)
  const query = useQuery({
    queryKey: ['kb', 'citations', docId],
    queryFn: () => libraryApi.citations(docId),
  })
  return (
    <details
      className="card p-5"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="target cursor-pointer">
        <h2 className="inline">{t('kb.cited')}</h2>
      </summary>
      <p className="my-2 text-note text-ink-2">{t('kb.cited.about')}</p>
      <Loaded query={query}>
        {({ citations }) => (
          <>
            {citations.length === 0 && <p className="text-note">{t('kb.cited.none')}</p>}
            <ul className="mb-3 grid gap-3">
              {(isWhole ? citations : citations.slice(0, FIRST)).map((turn) => (
                <Turn key={`${turn.session_id} ${turn.seq}`} turn={turn} docId={docId} />
              ))}
            </ul>
            {!isWhole && citations.length > FIRST && (
              <Button size="small" onClick={() => setWhole(true)}>
                {t('kb.cited.all', { count: citations.length })}
              </Button>
            )}
          </>
        )}
      </Loaded>
    </details>
  )
}

function Turn({ turn, docId }: { readonly turn: KbCitation; readonly docId: string }) {
  const { t } = useI18n()
  const { session_id: session, seq, question, passages, created_at } = turn
  return (
    <li className="text-note">
      <Link
        to="/app"
        search={{ session, turn: seq }}
        className="target line-clamp-2 underline underline-offset-2 wrap-anywhere"
      >
        {question.trim() || t('kb.cited.wordless')}
      </Link>
      <p className="text-small text-ink-3">
        <Ago at={created_at} />
        {passages.map((passage) => (
          <span key={passage}>
            {' · '}
            <Link
              to="/app/kb/$doc"
              params={{ doc: docId }}
              hash={String(passage)}
              className="underline underline-offset-2"
            >
              {t('kb.chunk', { number: passage + 1 })}
            </Link>
          </span>
        ))}
      </p>
    </li>
  )
}
