import { Link } from '@tanstack/react-router'
import {
  ChevronDown,
  CircleCheck,
  CircleDashed,
  FileText,
  Globe,
  LoaderCircle,
  PenLine,
  RotateCw,
  TriangleAlert,
} from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import type { ListedSource as Source } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Badge, type Tone } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { DRAGGED } from './collection-bar.tsx'
import { Facts } from './facts.tsx'
import { failureOf } from './failure.ts'
import { type ItemActions, ItemMenu } from './item-menu.tsx'
import { type Item, idOf, isInWork, titleOf } from './library.ts'
import { useParts } from './parts.ts'
import type { Selection } from './selection.tsx'

interface ItemRowProps {
  readonly item: Item
  readonly actions: ItemActions
  readonly selection: Selection
  /** Whether the page is being checked. */
  readonly isChecked: boolean
}

/** A file, a page or a document of the list, with its parts folded away. */
export function ItemRow({ item, actions, selection, isChecked }: ItemRowProps) {
  const [unfolded, setUnfolded] = useState(false)
  const partsId = useId()
  const parts = item.kind === 'doc' ? 1 : item.source.parts
  const docId = item.kind === 'doc' ? item.doc.id : item.source.doc_id
  return (
    <li
      className="entry"
      draggable={!selection.isOn}
      onDragStart={(event) => event.dataTransfer.setData(DRAGGED, idOf(item))}
    >
      {selection.isOn ? (
        <label className="target -mx-3 self-start px-3 pt-0.5">
          <input
            type="checkbox"
            checked={selection.has(item)}
            aria-label={titleOf(item)}
            onChange={() => selection.toggle(item)}
          />
        </label>
      ) : (
        <span className="mt-0.5 text-ink-3">{iconOf(item)}</span>
      )}
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
          {parts > 1 ? (
            <button
              type="button"
              className="inline-flex min-w-0 items-center gap-1 text-left font-medium"
              aria-expanded={unfolded}
              aria-controls={partsId}
              onClick={() => setUnfolded(!unfolded)}
            >
              <span className="min-w-0">{titleOf(item)}</span>
              <ChevronDown
                size={16}
                className={`flex-none text-ink-3 ${unfolded ? 'rotate-180' : ''}`}
                aria-hidden
              />
            </button>
          ) : (
            <Title docId={docId} title={titleOf(item)} />
          )}
          <State item={item} isChecked={isChecked} />
        </div>
        <Facts item={item} />
        {item.kind === 'source' && <Trouble source={item.source} actions={actions} item={item} />}
        {unfolded && item.kind === 'source' && <Parts id={partsId} source={item.source} />}
      </div>
      {!selection.isOn && (
        <ForEditors>
          <ItemMenu item={item} actions={actions} />
        </ForEditors>
      )}
    </li>
  )
}

function iconOf(item: Item): ReactNode {
  const icon = { size: 17, strokeWidth: 1.6, 'aria-hidden': true } as const
  if (item.kind === 'doc') return <PenLine {...icon} />
  return item.source.kind === 'url' ? <Globe {...icon} /> : <FileText {...icon} />
}

interface TitleProps {
  readonly docId: string | null
  readonly title: string
}

/** A link to the passages when there are any, else the title as text. */
function Title({ docId, title }: TitleProps) {
  if (docId === null) return <span className="min-w-0 font-medium">{title}</span>
  return (
    <Link
      to="/app/kb/$doc"
      params={{ doc: docId }}
      className="target min-w-0 font-medium underline-offset-2 hover:underline"
    >
      {title}
    </Link>
  )
}

const NOT_COUNTED: Partial<Source> = {}

const TONES: Readonly<Partial<Record<Source['state'], Tone>>> = {
  reading: 'accent',
  embedding: 'accent',
  failed: 'bad',
  gone: 'warn',
}

function State({ item, isChecked }: Pick<ItemRowProps, 'item' | 'isChecked'>) {
  const { t } = useI18n()
  const state = item.kind === 'doc' ? 'ready' : item.source.state
  const icon = { size: 13, 'aria-hidden': true } as const
  const busy = <LoaderCircle {...icon} className="animate-spin" />
  const icons = {
    queued: <CircleDashed {...icon} />,
    reading: busy,
    embedding: busy,
    ready: <CircleCheck {...icon} />,
    failed: <TriangleAlert {...icon} />,
    gone: <TriangleAlert {...icon} />,
  }
  if (isChecked) {
    return (
      <Badge tone="accent" icon={busy}>
        {t('kb.state.checking')}
      </Badge>
    )
  }
  if (state === 'ready') {
    return (
      <span className="inline-flex items-center gap-1 text-mini text-good">
        {icons.ready}
        {t('kb.state.ready')}
      </span>
    )
  }
  const { pages = null, pages_done: done } = item.kind === 'source' ? item.source : NOT_COUNTED
  const isCounted = state === 'reading' && pages !== null && done !== undefined && pages > 1
  return (
    <Badge tone={TONES[state]} icon={icons[state]}>
      {isCounted ? t('kb.state.reading.pages', { done, pages }) : t(`kb.state.${state}`)}
    </Badge>
  )
}

interface TroubleProps {
  readonly source: Source
  readonly item: Item
  readonly actions: ItemActions
}

/** Why the item or its last check failed, and a button to try again; not while it is tried. */
function Trouble({ source, item, actions }: TroubleProps) {
  const { t, locale } = useI18n()
  const mayChange = useMayChange()
  const time = (at: string) => new Date(at).toLocaleTimeString(locale)
  const { state, kind, retry_at, readable_until, pages_done: done } = source
  const isHere = kind === 'url' || readable_until !== undefined
  const again = state === 'reading' && done !== undefined ? 'kb.retry.scan' : 'kb.retry'
  const failure = isInWork(source) ? '' : failureOf(source, t)
  const reason = retry_at === null ? failure : t(again, { at: time(retry_at) })
  if (reason === '' && state !== 'gone') return null
  const kept = state === 'ready' ? t('kb.check.failed') : state === 'gone' ? t('kb.gone') : ''
  const anew = t(kind === 'url' ? 'kb.check' : isHere ? 'kb.read.again' : 'kb.again')
  return (
    <>
      <p className={`text-note ${state === 'failed' ? 'text-bad' : 'text-warn'}`}>
        {kept} {reason}
      </p>
      {state === 'failed' && mayChange && (
        <Button
          size="small"
          className="mt-2"
          icon={<RotateCw size={15} aria-hidden />}
          aria-label={t('system.summary', { name: anew, value: titleOf(item) })}
          onClick={() => (isHere ? actions.onCheck(source) : actions.onSendAgain(item))}
        >
          {anew}
        </Button>
      )}
    </>
  )
}

interface PartsProps {
  readonly id: string
  readonly source: Source
}

function Parts({ id, source }: PartsProps) {
  const { t, locale } = useI18n()
  const query = useParts(source.id)
  return (
    <Loaded query={query} rows={2}>
      {({ docs }) => (
        <ol id={id} className="mt-2 grid gap-1.5 border-l-2 border-line pl-3 text-note">
          {docs.map((doc) => (
            <li key={doc.id}>
              <Title docId={doc.id} title={doc.title} />
              <span className="ml-2 text-small text-ink-3">
                {t('kb.fact.chars', { count: doc.char_count.toLocaleString(locale) })}
                {' · '}
                {t('kb.fact.passages', { count: doc.chunk_count })}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  )
}
