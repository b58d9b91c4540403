import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { Archive, Bot, MessagesSquare, SquarePen } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import type { Talk } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import { MINUTE_MS, useNow } from '../../lib/time.ts'
import { ASSISTANTS, CHAT } from '../../shell/nav.ts'
import { NextPage } from '../../ui/more.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { type Place, useConversations, useOpenTalks } from './conversations.ts'
import { freshSession } from './fresh.ts'
import { type GroupName, grouped, midnightOf } from './groups.ts'
import { RailItem } from './rail-item.tsx'
import { foldersOf, KINDS, type Kind, useRail } from './use-rail.ts'

interface RailProps {
  /** Called when the person has gone somewhere. */
  readonly onGo?: (() => void) | undefined
}

/** The talks of the person, newest first, with a search in their turns. */
export function Rail({ onGo }: RailProps) {
  const { t } = useI18n()
  const [typed, setTyped] = useState('')
  const [kind, setKind] = useState<Kind>('mine')
  const [isArchive, setArchive] = useState(false)
  const mayChange = useMayChange()
  const { session, go, startNew, leave } = usePlaces(onGo)
  const { query, rename, change, remove, undo, going } = useRail(typed, kind, isArchive)
  const open = useOpenTalks()
  const loaded: readonly Talk[] =
    query.data?.pages.flatMap(({ conversations }) => conversations) ?? []
  const begun = typed || kind !== 'mine' || isArchive ? [] : open
  const fresh = begun.filter(({ id }) => !loaded.some((talk) => talk.id === id))
  const list = [...fresh, ...loaded]
  const stop = list.some(({ id }) => id === session) ? session : list[0]?.id
  const actions = {
    onPick: go,
    undo,
    rename: (id: string, title: string) => rename.mutate({ id, title }),
    change: change.mutate,
    remove(id: string) {
      remove(id)
      if (id === session) leave()
    },
  }
  const icon = { size: 17, strokeWidth: 1.75, 'aria-hidden': true } as const
  return (
    <div className="rail-side">
      <nav aria-label={t('nav.label')} className="grid gap-0.5">
        <button type="button" className="nav-link w-full" onClick={startNew}>
          <SquarePen {...icon} />
          {t('studio.new')}
        </button>
        <Link to={ASSISTANTS} className="nav-link" onClick={onGo}>
          <Bot {...icon} />
          {t('nav.assistants')}
        </Link>
      </nav>
      <input
        className="input"
        type="search"
        maxLength={200}
        placeholder={t('studio.find')}
        aria-label={t('studio.find')}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {mayChange && (
        <select
          className="rail-kind"
          aria-label={t('talks.kind')}
          value={kind}
          onChange={(event) => setKind(event.target.value as Kind)}
        >
          {KINDS.map((name) => (
            <option key={name} value={name}>
              {t(`talks.${name}`)}
            </option>
          ))}
        </select>
      )}
      <Loaded query={query}>
        {() =>
          list.length === 0 ? (
            <Empty
              icon={<MessagesSquare />}
              title={t(typed.trim() ? 'studio.find.none' : 'studio.rail.empty')}
            />
          ) : (
            <Groups list={list} session={session} stop={stop} {...{ typed, going, actions }} />
          )
        }
      </Loaded>
      {query.hasNextPage && <NextPage query={query} label={t('studio.rail.more')} />}
      {(isArchive || loaded.some(({ archived }) => archived !== undefined)) && (
        <button
          type="button"
          className="nav-link text-small"
          aria-pressed={isArchive}
          onClick={() => setArchive(!isArchive)}
        >
          <Archive size={15} strokeWidth={1.75} aria-hidden />
          {t(isArchive ? 'talks.archive.leave' : 'talks.archive')}
        </button>
      )}
    </div>
  )
}

/** The talk of the address, and how to go to another one. */
function usePlaces(onGo: (() => void) | undefined) {
  const navigate = useNavigate()
  const { drafts } = useConversations()
  const session = useLocation({
    select: ({ search }) => String((search as { session?: unknown }).session ?? ''),
  })
  const go = ({ session: to, app, turn }: Place) => {
    const at = turn === undefined ? {} : { turn }
    onGo?.()
    void navigate({ to: CHAT, search: { ...(app ? { app } : {}), session: to, ...at } })
  }
  const fresh = () => drafts.fresh(freshSession)
  return {
    session,
    go,
    startNew: () => {
      go({ session: fresh(), app: '' })
      dispatchEvent(new Event('mb:compose'))
    },
    /** To an empty talk, with the list still open: what was deleted may be wanted back. */
    leave: () => void navigate({ to: CHAT, search: { session: fresh() } }),
  }
}

/** Arrow keys go from talk to talk, and to the menu of one. */
function onArrows(event: KeyboardEvent<HTMLElement>) {
  const here = (event.target as HTMLElement).closest('.rail-item')
  if (!here || !['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight'].includes(event.key)) return
  if (event.target instanceof HTMLInputElement) return
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('.rail-link')]
  const link = here.querySelector<HTMLElement>('.rail-link')
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const next =
    step !== undefined && link
      ? links[links.indexOf(link) + step]
      : here.querySelector<HTMLElement>(event.key === 'ArrowRight' ? '.btn' : '.rail-link')
  if (!next) return
  event.preventDefault()
  next.focus()
}

interface GroupsProps {
  readonly list: readonly Talk[]
  readonly session: string
  /** The talk that the Tab key stops at. */
  readonly stop: string | undefined
  readonly typed: string
  readonly going: readonly string[]
  readonly actions: Parameters<typeof RailItem>[0]['actions']
}

function Groups({ list, session, stop, typed, going, actions }: GroupsProps) {
  const { t } = useI18n()
  const named = useGroupName()
  const midnight = useNow(MINUTE_MS, midnightOf)
  const folders = foldersOf(list)
  return (
    <section className="rail" aria-label={t('studio.rail')} onKeyDown={onArrows}>
      {grouped(list, midnight).map(({ key, name, talks }) => (
        <div key={key}>
          <h2 className="rail-group">{named(name)}</h2>
          <ul>
            {talks.map((talk) => (
              <RailItem
                key={talk.id}
                conversation={talk}
                isHere={talk.id === session}
                isStop={talk.id === stop}
                query={typed}
                isGoing={going.includes(talk.id)}
                folders={folders}
                actions={actions}
              />
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

function useGroupName() {
  const { t, locale } = useI18n()
  const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' })
  return (name: GroupName): string => {
    if (name.kind === 'folder') return name.name
    return name.kind === 'month' ? month.format(name.at) : t(`talks.group.${name.kind}`)
  }
}
