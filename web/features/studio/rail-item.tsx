import {
  Archive,
  ArchiveRestore,
  Download,
  Folder,
  Mic,
  Pencil,
  Pin,
  PinOff,
  Trash2,
} from 'lucide-react'
import { type FormEvent, Suspense, useEffect, useId, useRef, useState } from 'react'
import { CONVERSATION_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { type Talk, talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { lazyPart } from '../../lib/lazy-part.ts'
import { Button } from '../../ui/button.tsx'
import { Marked } from '../../ui/marked.tsx'
import { type RowAction, RowMenu } from '../../ui/row-menu.tsx'
import { useShownTitle } from '../sessions/shown-title.ts'
import { type Place, useAnswering, useUnseen } from './conversations.ts'
import { plainText } from './spoken.ts'

const FolderDialog = lazyPart(() => import('./folder-dialog.tsx'), 'FolderDialog')

interface RailItemProps {
  readonly conversation: Talk
  readonly isHere: boolean
  /** Whether the Tab key stops here; arrow keys lead to the others. */
  readonly isStop: boolean
  /** The words of the search. */
  readonly query: string
  /** Whether it is about to be deleted. */
  readonly isGoing: boolean
  readonly folders: readonly string[]
  readonly actions: {
    readonly onPick: (place: Place) => void
    readonly rename: (id: string, title: string) => void
    readonly change: (input: { id: string } & Parameters<typeof talks.change>[1]) => void
    readonly remove: (id: string) => void
    readonly undo: (id: string) => void
  }
}

/** A conversation: its title and its menu. */
export function RailItem(props: RailItemProps) {
  const { conversation, isHere, isStop, query, isGoing, folders, actions } = props
  const { t } = useI18n()
  const { id, app_id, device_id, match, folder = null } = conversation
  const title = useShownTitle()(conversation.title)
  const [isNaming, setNaming] = useState(false)
  const [isFiling, setFiling] = useState(false)
  const isBusy = useAnswering(id)
  const isUnseen = useUnseen(id)
  const place = useReturn(id, isNaming || isGoing)
  const menu = useMenu(conversation, {
    ...actions,
    name: () => setNaming(true),
    file: () => setFiling(true),
  })
  if (isGoing) return <Going title={title} onUndo={() => actions.undo(id)} />
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
        ref={place}
        type="button"
        className="rail-link"
        tabIndex={isStop ? 0 : -1}
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
          <span className={`min-w-0 truncate ${isUnseen ? 'font-semibold' : ''}`}>{title}</span>
          {isBusy && <span className="dot" role="img" aria-label={t('studio.answering')} />}
          {isUnseen && !isBusy && (
            <span className="dot" role="img" aria-label={t('studio.unseen')} />
          )}
        </span>
        {match && (
          <span className="line-clamp-2 text-mini text-ink-2">
            <Marked text={plainText(match.excerpt)} query={query} />
          </span>
        )}
      </button>
      <RowMenu label={t('studio.actions', { title })} isStop={isStop} actions={menu} />
      {isFiling && (
        <Suspense>
          <FolderDialog
            folder={folder}
            folders={folders}
            onEnd={(next) => {
              setFiling(false)
              if (next === undefined) return
              moving = id
              actions.change({ id, folder: next })
            }}
          />
        </Suspense>
      )}
    </li>
  )
}

/** The talk that goes to another group of the list, where its row is another one. */
let moving: string | null = null

/**
 * The focus returns to the row whose title was edited, or whose deletion was undone, and goes with
 * the one that is pinned or filed.
 */
function useReturn(id: string, isAway: boolean) {
  const place = useRef<HTMLButtonElement>(null)
  const was = useRef(moving === id)
  useEffect(() => {
    const isNowhere = document.activeElement === document.body
    if (was.current && !isAway && isNowhere) {
      moving = null
      place.current?.focus()
    }
    was.current = isAway
  }, [isAway])
  return place
}

type MenuActions = RailItemProps['actions'] & {
  readonly name: () => void
  readonly file: () => void
}

/** What the server can do with the talk; one that does not tell of pins has none of the rest. */
function useMenu(talk: Talk, { name, file, change, remove }: MenuActions): RowAction[] {
  const { t } = useI18n()
  const { id, pinned, archived } = talk
  const move = (to: Parameters<typeof talks.change>[1]) => {
    moving = id
    change({ id, ...to })
  }
  const renaming = { label: t('studio.rename'), icon: Pencil, act: name }
  const removal = {
    label: t('action.delete'),
    icon: Trash2,
    act: () => remove(id),
    isLoss: true,
  }
  if (pinned === undefined) return [renaming, removal]
  return [
    renaming,
    {
      label: t(pinned ? 'talks.unpin' : 'talks.pin'),
      icon: pinned ? PinOff : Pin,
      act: () => move({ pinned: !pinned }),
    },
    { label: t('talks.file'), icon: Folder, act: file },
    {
      label: t(archived ? 'talks.restore' : 'talks.put-away'),
      icon: archived ? ArchiveRestore : Archive,
      act: () => change({ id, archived: !archived }),
    },
    ...(['md', 'json'] as const).map((format) => ({
      label: t(`talks.export.${format}`),
      icon: Download,
      act: () => location.assign(talks.exportPath(id, format)),
    })),
    removal,
  ]
}

/** A talk that is about to be deleted. The focus goes to the button that keeps it. */
function Going({ title, onUndo }: { readonly title: string; readonly onUndo: () => void }) {
  const { t } = useI18n()
  const what = useId()
  return (
    <li className="rail-item">
      <del id={what} className="min-w-0 flex-1 truncate text-ink-3 line-through">
        {title}
      </del>
      <Button ref={focus} size="small" aria-describedby={what} onClick={onUndo}>
        {t('studio.undo')}
      </Button>
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
