import { useState } from 'react'
import { api } from '../../api/index.ts'
import { talks } from '../../api/talks.ts'
import { useToasts } from '../../lib/services.tsx'
import { type Place, useAnswering, useConversations } from './conversations.ts'
import { NO_DRAFT } from './drafts.ts'
import { freshSession } from './fresh.ts'
import { type Asked, namesOf, requestOf } from './use-asking.ts'
import type { useChosen } from './use-chosen.ts'
import { type Setup, setupPlace } from './use-setup.ts'
import { useStored } from './use-stored.ts'

interface BesideOptions {
  readonly choice: Pick<ReturnType<typeof useChosen>, 'chosen' | 'choose'>
  readonly beside: NonNullable<Place['beside']>
  readonly setups: readonly [Setup, Setup]
}

/** Two ways of a talk, which are asked the same questions until one of them is kept. */
export function useBeside({ choice: { chosen, choose }, beside, setups }: BesideOptions) {
  const conversations = useConversations()
  const { drafts } = conversations
  const toasts = useToasts()
  const { session } = chosen
  const stored = useStored(session)
  const isAsked = beside.session !== ''
  const [isPairing, setPairing] = useState(false)
  const first = useAnswering(session)
  const second = useAnswering(beside.session)

  /** The two talks to ask in: both go on from where this one ends. */
  async function pair(): Promise<readonly [string, string]> {
    if (isAsked) return [session, beside.session]
    const { turns } = await api.sessions.transcript(session, { limit: 1 })
    const seq = turns[0]?.seq
    if (seq === undefined) return [session, freshSession()]
    const one = await talks.branch(session, seq)
    try {
      const other = await talks.branch(session, seq)
      return [one.session_id, other.session_id]
    } catch (error) {
      await talks.removeBranch(one.session_id).catch(() => {})
      throw error
    }
  }

  /** Resolves with whether both were asked. */
  async function ask(question: Asked): Promise<boolean> {
    setPairing(true)
    try {
      const sessions = await pair()
      if (!isAsked) {
        const [one, other] = sessions
        drafts.used(one)
        // What was typed meanwhile stays in the field, which is now that of the branch.
        if (one !== session) {
          drafts.write(one, drafts.read(session))
          drafts.write(session, NO_DRAFT)
        }
        choose({ session: one, beside: { session: other, app: beside.app } })
      }
      const apps = [chosen.app, beside.app] as const
      for (const side of [0, 1] as const) {
        const request = requestOf(sessions[side], apps[side], setups[side].asked, question)
        void conversations.send(request, { names: namesOf(question.files) })
      }
      return true
    } catch (error) {
      toasts.show('bad', error as Error)
      return false
    } finally {
      setPairing(false)
    }
  }

  /** Goes on with one side, as it was set up; the talk of the other is deleted. */
  async function keep(side: 0 | 1): Promise<void> {
    const { forget, tellStored } = conversations
    const gone = side === 0 ? beside.session : session
    if (side === 1) {
      drafts.write(setupPlace(beside.app), drafts.read(setupPlace(beside.app, true)))
      choose({ session: beside.session, app: beside.app, beside: null })
    } else choose({ session, beside: null })
    try {
      await talks.removeBranch(gone)
      forget(gone)
      await tellStored(gone)
    } catch (error) {
      toasts.show('bad', error as Error)
    }
  }

  return {
    isAsked,
    stored,
    running: first || second || isPairing,
    ask,
    keep,
    stop() {
      for (const one of [session, beside.session]) {
        void conversations.stop(one).catch((error: Error) => toasts.show('bad', error))
      }
    },
  }
}
