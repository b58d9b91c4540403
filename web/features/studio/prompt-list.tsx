import { useQuery } from '@tanstack/react-query'
import { type Prompt, talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'

const SHOWN = 6
const NONE: readonly Prompt[] = []

/** The kept texts whose names begin with what was typed after a slash. */
export function usePrompts(text: string): readonly Prompt[] {
  const typed = /^\/([a-z0-9-]*)$/.exec(text)?.[1]
  const { data = NONE } = useQuery({
    queryKey: ['prompts'],
    queryFn: talks.prompts,
    enabled: typed !== undefined,
    retry: false,
  })
  if (typed === undefined) return NONE
  return data.filter(({ name }) => name.startsWith(typed)).slice(0, SHOWN)
}

/** Selects the first `{{field}}` of a text, which asks for a value. */
export function selectField(area: HTMLTextAreaElement | null): void {
  const found = /\{\{[^{}:]+\}\}/.exec(area?.value ?? '')
  area?.focus()
  if (found) area?.setSelectionRange(found.index, found.index + found[0].length)
}

interface PromptListProps {
  readonly prompts: readonly Prompt[]
  /** The one that Enter takes. */
  readonly at: number
  readonly onPick: (prompt: Prompt) => void
}

export function PromptList({ prompts, at, onPick }: PromptListProps) {
  const { t } = useI18n()
  if (prompts.length === 0) return null
  return (
    <ul className="prompts" aria-label={t('studio.prompts')}>
      {prompts.map((prompt, index) => (
        <li key={prompt.id}>
          <button
            type="button"
            className="menu-item w-full text-left"
            data-highlighted={index === at || undefined}
            tabIndex={-1}
            onClick={() => onPick(prompt)}
          >
            <code>/{prompt.name}</code>
            <span className="min-w-0 truncate text-ink-3">{prompt.title}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
