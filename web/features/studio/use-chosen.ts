import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { CHAT } from '../../shell/nav.ts'
import { type Place, useConversations } from './conversations.ts'
import { freshSession } from './fresh.ts'

/**
 * App and session are in the page URL, so that a conversation can be linked. Without them, coming
 * from another page opens the last conversation, and opening the studio again starts a new one.
 */
export function useChosen() {
  const navigate = useNavigate()
  // False while another page is being opened, whose address must not be changed.
  const isHere = useLocation({ select: ({ pathname }) => pathname.replace(/\/$/, '') }) === CHAT
  const conversations = useConversations()
  const search: Record<string, unknown> = useSearch({ strict: false })
  const text = (name: string) => (search[name] === undefined ? '' : String(search[name]))
  const linked = text('session') !== ''
  const [left, setLeft] = useState(() => (linked || text('app') ? null : conversations.last()))
  const [fresh, setFresh] = useState(() => conversations.drafts.fresh(freshSession))
  const turn = Number(text('turn')) || null
  const beside = search.beside === undefined ? null : { session: text('beside'), app: text('with') }
  const here = { session: text('session') || fresh, app: text('app'), beside }
  const chosen: Place = linked || !left ? here : left
  const choose = (more: Partial<Place>) => {
    if (!isHere) return
    const { app, session } = { ...chosen, ...more }
    const at = more.turn === undefined ? {} : { turn: more.turn }
    // Another talk stands alone, unless it is chosen together with one beside it.
    const stays = more.session === undefined ? chosen.beside : null
    const other = more.beside === undefined ? stays : more.beside
    const pair = other ? { beside: other.session, with: other.app } : {}
    void navigate({
      to: '.',
      search: { ...(app ? { app } : {}), session, ...at, ...pair },
      // A new history entry, so that Back opens the previous conversation.
      replace: session === chosen.session,
      resetScroll: false,
    })
  }
  useEffect(() => {
    if (!left) return
    if (linked) setLeft(null)
    else choose(left)
  })
  // The fresh session has had its first question.
  useEffect(() => {
    if (linked) setFresh(conversations.drafts.fresh(freshSession))
  }, [linked, conversations])
  /** Opens an empty conversation; reuses one without a question. */
  const startNew = () => choose({ session: conversations.drafts.fresh(freshSession) })
  return { chosen, turn, choose, linked, startNew }
}
