import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/state.tsx'

export interface Passage {
  readonly docId: string
  readonly title: string
  /** The chunk to highlight; null for the whole document. */
  readonly seq: number | null
}

interface ChunksProps {
  readonly passage: Passage | null
  readonly onClose: () => void
}

/** The chunks of a document; a citation opens it at the cited passage. */
export function ChunksDialog({ passage, onClose }: ChunksProps) {
  const { t } = useI18n()
  return (
    <Dialog
      title={passage?.title ?? ''}
      about={t('kb.chunks.about')}
      open={passage !== null}
      onClose={onClose}
      wide
    >
      {passage && <Chunks passage={passage} />}
    </Dialog>
  )
}

function Chunks({ passage }: { readonly passage: Passage }) {
  const { t } = useI18n()
  const query = useQuery({
    queryKey: ['kb', 'chunks', passage.docId],
    queryFn: () => api.kb.chunks(passage.docId),
  })
  return (
    <Loaded query={query}>
      {({ chunks }) => (
        <ol className="grid gap-3">
          {chunks.map(({ seq, text }) => (
            <Chunk
              key={seq}
              label={t('kb.chunk', { number: seq + 1 })}
              text={text}
              meant={seq === passage.seq}
            />
          ))}
        </ol>
      )}
    </Loaded>
  )
}

interface ChunkProps {
  readonly label: string
  readonly text: string
  readonly meant: boolean
}

function Chunk({ label, text, meant }: ChunkProps) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (meant) element.current?.scrollIntoView({ block: 'center' })
  }, [meant])
  return (
    <li
      ref={element}
      className={`rounded-lg border p-4 ${meant ? 'border-accent bg-accent-soft' : 'border-line'}`}
      aria-current={meant || undefined}
    >
      <p className="mb-1 text-[0.82rem] text-ink-3">{label}</p>
      <p className="text-[0.92rem] break-words whitespace-pre-wrap">{text}</p>
    </li>
  )
}
