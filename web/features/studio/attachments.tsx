import { BookPlus, FileText, LoaderCircle, RotateCw, TriangleAlert, X } from 'lucide-react'
import { talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import type { Attachment } from './drafts.ts'

interface AttachmentsProps {
  readonly list: readonly Attachment[]
  readonly onDrop: (key: number) => void
}

/** The files of a question being written. */
export function Attachments({ list, onDrop }: AttachmentsProps) {
  const { t } = useI18n()
  return (
    <ul className="flex flex-wrap gap-2 px-1 pt-1" aria-label={t('studio.attached')}>
      {list.map((one) => (
        <Card key={one.key} attachment={one} onDrop={() => onDrop(one.key)} />
      ))}
    </ul>
  )
}

interface CardProps {
  readonly attachment: Attachment
  readonly onDrop: () => void
}

function Card({ attachment: { name, share, file, problem }, onDrop }: CardProps) {
  const { t } = useI18n()
  const mayChange = useMayChange()
  const keep = useAction(talks.keepFile, { done: 'studio.attached.kept', refresh: ['kb'] })
  const again = useAction(talks.readFileAgain, { refresh: ['file'] })
  const icon = { size: 15, 'aria-hidden': true } as const
  const quiet = { kind: 'quiet', size: 'small' } as const
  const isBusy = problem === null && file?.state !== 'ready'
  const { pages = null, pages_done: done = null } = file ?? {}
  const reading =
    pages !== null && done !== null && done < pages
      ? t('studio.attached.pages', { done, pages })
      : t('studio.attached.reading')
  const state = file === null ? `${Math.round(share * 100)} %` : reading
  return (
    <li className="attachment" data-tone={problem === null ? undefined : 'bad'}>
      {problem !== null && <TriangleAlert {...icon} className="flex-none text-bad" />}
      {isBusy && <LoaderCircle {...icon} className="flex-none animate-spin" />}
      {problem === null && !isBusy && <FileText {...icon} className="flex-none" />}
      <span className="min-w-0">
        <span className="block truncate">{name}</span>
        {problem !== null && (
          <span role="alert" className="block text-mini text-bad">
            <span className="sr-only">{name}: </span>
            {problem}
          </span>
        )}
        {isBusy && <span className="block text-mini text-ink-3">{state}</span>}
      </span>
      {file?.state === 'failed' && file.readable_until !== undefined && (
        <Button
          {...quiet}
          icon={<RotateCw {...icon} />}
          busy={again.isPending}
          aria-label={t('studio.attached.again', { name })}
          title={t('studio.attached.again', { name })}
          onClick={() => again.mutate(file.id)}
        />
      )}
      {file?.state === 'ready' && mayChange && !keep.isSuccess && (
        <Button
          {...quiet}
          icon={<BookPlus {...icon} />}
          busy={keep.isPending}
          aria-label={t('studio.attached.keep', { name })}
          title={t('studio.attached.keep', { name })}
          onClick={() => keep.mutate(file.id)}
        />
      )}
      <Button
        {...quiet}
        icon={<X {...icon} />}
        aria-label={t('studio.attached.drop', { name })}
        onClick={onDrop}
      />
    </li>
  )
}
