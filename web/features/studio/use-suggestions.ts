import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import { talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'

/** What the list above the composer offers. */
export interface Suggestion {
  readonly id: string
  /** What is typed for it, such as `/greeting` or `@Shop`. */
  readonly label: string
  readonly title: string
  /** A kept text, an act, or an assistant (empty: none), which then answers in this talk. */
  readonly takes:
    | { readonly text: string }
    | { readonly command: Command }
    | { readonly app: string }
    /** A collection, and the question without its name. */
    | { readonly collection: string; readonly rest: string }
}

/** What can be done from the field: another talk, one that is not stored, two side by side. */
export type Command = keyof typeof COMMANDS

const COMMANDS = {
  new: 'studio.new',
  temporary: 'temporary.switch',
  compare: 'beside.begin',
} as const

const SHOWN = 6
/** A name that is being typed at the end of a question. */
const COLLECTION = /^(?<rest>(?:[\s\S]*\s)?)#(?<typed>[^\n#]{0,60})$/

/**
 * The kept texts and the acts after a slash, the assistants after an @, and the collections after a
 * # at the end of a question, whose names begin as was typed.
 */
export function useSuggestions(text: string, commands: readonly Command[]): readonly Suggestion[] {
  const { t } = useI18n()
  const name = /^\/([a-z0-9-]*)$/.exec(text)?.[1]
  const assistant = /^@([^\n]{0,60})$/.exec(text)?.[1]?.toLowerCase()
  const prompts = useQuery({
    queryKey: ['prompts'],
    queryFn: talks.prompts,
    enabled: name !== undefined,
    retry: false,
  })
  const apps = useQuery({
    queryKey: ['apps'],
    queryFn: api.apps.list,
    enabled: assistant !== undefined,
    retry: false,
  })
  const within = COLLECTION.exec(text)
  const collections = useQuery({
    queryKey: ['kb', 'collections'],
    queryFn: api.collections.list,
    enabled: within !== null,
    retry: false,
  })
  if (within) {
    const { rest = '', typed = '' } = within.groups ?? {}
    const all = collections.data?.collections ?? []
    const fitting = all.filter((one) => one.name.toLowerCase().startsWith(typed.toLowerCase()))
    return fitting.slice(0, SHOWN).map((one) => ({
      id: one.id,
      label: `#${one.name}`,
      title: one.description ?? '',
      takes: { collection: one.id, rest },
    }))
  }
  if (name !== undefined) {
    const fitting = (prompts.data ?? []).filter((prompt) => prompt.name.startsWith(name))
    const acts = commands.filter((command) => command.startsWith(name))
    return [
      ...fitting.slice(0, SHOWN).map((prompt) => ({
        id: prompt.id,
        label: `/${prompt.name}`,
        title: prompt.title,
        takes: { text: prompt.text },
      })),
      ...acts.map((command) => ({
        id: `act ${command}`,
        label: `/${command}`,
        title: t(COMMANDS[command]),
        takes: { command },
      })),
    ]
  }
  if (assistant === undefined) return []
  const all = [
    { id: '', name: t('studio.app.none'), description: null },
    ...(apps.data?.apps ?? []),
  ]
  const fitting = all.filter((app) => app.name.toLowerCase().startsWith(assistant.trimEnd()))
  return fitting.slice(0, SHOWN).map((app) => ({
    id: app.id,
    label: `@${app.name}`,
    title: app.description ?? '',
    takes: { app: app.id },
  }))
}
