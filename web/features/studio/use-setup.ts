import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { TurnRequest } from '../../api/stream.ts'
import { useMayChange } from '../../lib/rights.ts'
import { useAction } from '../../lib/services.tsx'
import { type Draft, draftOf, inputOf, isSame, isSound } from '../apps/draft.ts'
import { useConversations } from './conversations.ts'
import { NO_DRAFT } from './drafts.ts'

/** The unsaved changes; none where they cannot be read. */
function typedIn(text: string): Partial<Draft> {
  try {
    return text === '' ? {} : ((JSON.parse(text) as Partial<Draft> | null) ?? {})
  } catch {
    return {}
  }
}

const as = (value: unknown) => JSON.stringify(value)

/** Those of the fields that differ from what is saved: no others are saved with them. */
const changedIn = (typed: Partial<Draft>, saved: Draft): Partial<Draft> =>
  Object.fromEntries(
    Object.entries(typed).filter(([field, value]) => as(value) !== as(saved[field as keyof Draft])),
  )

/** Where the unsaved changes of an assistant are kept, for a talk or for the one beside it. */
export const setupPlace = (appId: string, isBeside = false) =>
  `setup ${isBeside ? 'beside ' : ''}${appId}`

/** What is sent with a question: a form that is not saved, or what can be asked for without one. */
function askedBy(draft: Draft, saved: Draft): Pick<TurnRequest, 'kb' | 'draft' | 'model'> {
  const { kb } = draft
  const model = draft.model.trim()
  const isNamed = model !== '' && model !== saved.model.trim()
  const rest = { ...draft, kb: saved.kb, ...(isNamed && { model: saved.model }) }
  // A draft stands for an assistant: without one it would lose the tools of the workspace.
  if (isSame(rest, saved) && (saved.kb || !kb)) return { kb, ...(isNamed && { model }) }
  const { name: _, ...fields } = inputOf(draft)
  return { kb, draft: isSound(draft) ? fields : null }
}

/**
 * The settings for the next question: those of the app, until they are changed here. Unsaved
 * changes are kept when the page is left, like a draft; what was not changed follows the app, which
 * a colleague may change meanwhile.
 */
export function useSetup(
  appId: string,
  onCreated: (appId: string) => void,
  place = setupPlace(appId),
) {
  const { drafts } = useConversations()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const app = apps.data?.apps.find(({ id }) => id === appId) ?? null
  const [, setVersion] = useState(0)
  const write = (typed: Partial<Draft>) => {
    const text = Object.keys(typed).length > 0 ? JSON.stringify(typed) : ''
    drafts.write(place, { ...NO_DRAFT, text })
    setVersion((version) => version + 1)
  }
  const saved = draftOf(app)
  const mayChange = useMayChange()
  const read = () => (mayChange ? typedIn(drafts.read(place).text) : {})
  const typed = read()
  const draft = { ...saved, ...typed }
  const save = useAction(
    async (name: string) => {
      if (!app) return api.apps.create({ ...inputOf(draft), name })
      // Read again, as a colleague may have changed since what was not changed here.
      const newest = (await api.apps.list()).apps.find(({ id }) => id === app.id) ?? app
      return api.apps.update(app.id, inputOf({ ...draftOf(newest), ...typed }))
    },
    {
      done: 'apps.saved',
      refresh: ['apps'],
      onDone: (now) => {
        if (!app) onCreated(now.id)
        // More may have been typed while it was saved.
        write(app ? changedIn(read(), draftOf(now)) : {})
      },
    },
  )
  return {
    app,
    draft,
    isChanged: !isSame(draft, saved),
    change: (more: Partial<Draft>) => write(changedIn({ ...read(), ...more }, saved)),
    discard: () => write({}),
    save,
    /** The fields that are sent with a question. */
    asked: askedBy(draft, saved),
  }
}

export type Setup = ReturnType<typeof useSetup>
