import { Link } from '@tanstack/react-router'
import { useI18n } from '../../i18n/index.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Passages } from './passages.tsx'

export interface Passage {
  readonly docId: string
  readonly title: string
  readonly seq: number
  /** A sentence of the reply; the text that supports it is marked. */
  readonly quote?: string
}

interface ChunksProps {
  readonly passage: Passage | null
  readonly onClose: () => void
}

/** A passage among its neighbours, in a dialog over the page that cites it. */
export function ChunksDialog({ passage, onClose }: ChunksProps) {
  const { t } = useI18n()
  const about = passage && (
    <Link
      to="/app/kb/$doc"
      params={{ doc: passage.docId }}
      hash={String(passage.seq)}
      className="underline underline-offset-2"
    >
      {t('kb.doc.open')}
    </Link>
  )
  return (
    <Dialog
      title={passage?.title ?? ''}
      about={about}
      open={passage !== null}
      onClose={onClose}
      wide
    >
      {passage && <Passages {...passage} />}
    </Dialog>
  )
}
