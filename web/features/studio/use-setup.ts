import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { TurnRequest } from '../../api/stream.ts'
import { useMayChange } from '../../lib/rights.ts'
import { useAction } from '../../lib/services.tsx'
import { type Draft, draftOf, inputOf, isSame, isSound } from '../apps/draft.ts'
import { useConversations } from './conversations.ts'
import { NO_DRAFT } from './drafts.ts'

/** The unsaved changes; null without any, and for those that cannot be read. */
function draftIn(text: string): Draft | null {
  try {
    return text === '' ? null : (JSON.parse(text) as Draft | null)
  } catch {
    return null
  }
}

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
 * changes are kept when the page is left, like a draft.
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
  const write = (draft: Draft | null) => {
    drafts.write(place, { ...NO_DRAFT, text: draft ? JSON.stringify(draft) : '' })
    setVersion((version) => version + 1)
  }
  const saved = draftOf(app)
  const mayChange = useMayChange()
  const text = mayChange ? drafts.read(place).text : ''
  const draft = draftIn(text) ?? saved
  const isChanged = !isSame(draft, saved)
  const save = useAction(
    (name: string) => {
      const input = { ...inputOf(draft), name }
      return app ? api.apps.update(app.id, input) : api.apps.create(input)
    },
    {
      done: 'apps.saved',
      refresh: ['apps'],
      onDone: ({ id }) => {
        if (!app) onCreated(id)
        write(null)
      },
    },
  )
  return {
    app,
    draft,
    isChanged,
    change: (more: Partial<Draft>) => write({ ...draft, ...more }),
    discard: () => write(null),
    save,
    /** The fields that are sent with a question. */
    asked: askedBy(draft, saved),
  }
}

export type Setup = ReturnType<typeof useSetup>
