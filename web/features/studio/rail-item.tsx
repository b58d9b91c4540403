import { Mic, Pencil, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { CONVERSATION_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import type { Conversation } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Marked } from '../../ui/marked.tsx'
import { Ago } from '../../ui/page.tsx'
import { RowMenu } from '../../ui/row-menu.tsx'
import { useShownTitle } from '../sessions/shown-title.ts'
import { type Place, useAnswering } from './conversations.ts'

interface RailItemProps {
  readonly conversation: Conversation
  readonly isHere: boolean
  /** The words of the search. */
  readonly query: string
  /** Whether it is about to be deleted. */
  readonly isGoing: boolean
  readonly actions: {
    readonly onPick: (place: Place) => void
    readonly rename: (id: string, title: string) => void
    readonly remove: (id: string) => void
    readonly undo: (id: string) => void
  }
}

/** A conversation: its title, when it was last used, and its menu. */
export function RailItem({ conversation, isHere, query, isGoing, actions }: RailItemProps) {
  const { t } = useI18n()
  const { id, app_id, device_id, last_at, match } = conversation
  const title = useShownTitle()(conversation.title)
  const [isNaming, setNaming] = useState(false)
  const isBusy = useAnswering(id)
  if (isGoing) {
    return (
      <li className="rail-item" role="status">
        <span className="min-w-0 flex-1 truncate text-ink-3 line-through">{title}</span>
        <Button size="small" onClick={() => actions.undo(id)}>
          {t('studio.undo')}
        </Button>
      </li>
    )
  }
  if (isNaming) {
    return (
      <TitleForm
        title={title}
        onEnd={(next) => {
          setNaming(false)
          if (next !== null && next !== title) actions.rename(id, next)
        }}
      />
    )
  }
  return (
    <li className="rail-item" data-here={isHere || undefined}>
      <button
        type="button"
        className="rail-link"
        aria-current={isHere || undefined}
        onClick={() =>
          actions.onPick({
            session: id,
            app: app_id ?? '',
            ...(match ? { turn: match.seq } : {}),
          })
        }
      >
        <span className="flex items-center gap-1.5">
          {device_id && <Mic size={13} className="flex-none" aria-hidden />}
          <span className="min-w-0 truncate">{title}</span>
          {isBusy && <span className="dot" role="img" aria-label={t('studio.answering')} />}
        </span>
        {match && (
          <span className="line-clamp-2 text-[0.82rem] text-ink-2">
            <Marked text={match.excerpt} query={query} />
          </span>
        )}
        <span className="text-[0.78rem] text-ink-3">
          <Ago at={last_at} />
        </span>
      </button>
      <RowMenu
        label={t('studio.actions', { title })}
        actions={[
          { label: t('studio.rename'), icon: Pencil, act: () => setNaming(true) },
          { label: t('action.delete'), icon: Trash2, act: () => actions.remove(id), isLoss: true },
        ]}
      />
    </li>
  )
}

/** Focuses the field, because the person has just asked for it. */
const focus = (field: HTMLElement | null) => field?.focus()

interface TitleFormProps {
  readonly title: string
  /** Called with null when the title stays unchanged; a blank one restores the automatic title. */
  readonly onEnd: (title: string | null) => void
}

function TitleForm({ title: before, onEnd }: TitleFormProps) {
  const { t } = useI18n()
  const [title, setTitle] = useState(before)
  const save = (event: FormEvent) => {
    event.preventDefault()
    onEnd(title.trim())
  }
  return (
    <li className="rail-item">
      <form className="flex-1" onSubmit={save}>
        <input
          className="input"
          value={title}
          maxLength={CONVERSATION_TITLE_CHARS_MAX}
          aria-label={t('studio.rename')}
          ref={focus}
          onChange={(event) => setTitle(event.target.value)}
          onBlur={() => onEnd(title.trim())}
          onKeyDown={(event) => event.key === 'Escape' && onEnd(null)}
        />
      </form>
    </li>
  )
}
