import { MessagesSquare, SquarePen } from 'lucide-react'
import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { NextPage } from '../../ui/more.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import type { Place } from './conversations.ts'
import { RailItem } from './rail-item.tsx'
import { useRail } from './use-rail.ts'

interface RailProps {
  readonly session: string
  readonly onPick: (place: Place) => void
  readonly onNew: () => void
}

/** All conversations of the tenant, newest first, with a search in their turns. */
export function Rail({ session, onPick, onNew }: RailProps) {
  const { t } = useI18n()
  const [typed, setTyped] = useState('')
  const { query, rename, remove, undo, going } = useRail(typed)
  const actions = {
    onPick,
    undo,
    rename: (id: string, title: string) => rename.mutate({ id, title }),
    remove(id: string) {
      remove(id)
      if (id === session) onNew()
    },
  }
  return (
    <>
      <div className="flex gap-2">
        <input
          className="input"
          type="search"
          maxLength={200}
          placeholder={t('studio.find')}
          aria-label={t('studio.find')}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button
          icon={<SquarePen size={16} aria-hidden />}
          aria-label={t('studio.new')}
          onClick={onNew}
        />
      </div>
      <Loaded query={query}>
        {({ pages }) => {
          const list = pages.flatMap(({ conversations }) => conversations)
          if (list.length === 0) {
            const title = t(typed.trim() ? 'studio.find.none' : 'studio.rail.empty')
            return <Empty icon={<MessagesSquare />} title={title} />
          }
          return (
            <ul className="rail">
              {list.map((conversation) => (
                <RailItem
                  key={conversation.id}
                  conversation={conversation}
                  isHere={conversation.id === session}
                  query={typed}
                  isGoing={going.includes(conversation.id)}
                  actions={actions}
                />
              ))}
            </ul>
          )
        }}
      </Loaded>
      {query.hasNextPage && <NextPage query={query} label={t('studio.rail.more')} />}
    </>
  )
}
