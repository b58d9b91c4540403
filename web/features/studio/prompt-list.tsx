import { useI18n } from '../../i18n/index.tsx'
import { optionId } from './prompt-aria.ts'
import type { Suggestion } from './use-suggestions.ts'

interface PromptListProps {
  readonly id: string
  readonly list: readonly Suggestion[]
  /** The one that Enter takes. */
  readonly at: number
  readonly onPick: (suggestion: Suggestion) => void
}

/** Kept texts and acts, assistants or collections, by what was typed. */
export function PromptList({ id, list, at, onPick }: PromptListProps) {
  const { t } = useI18n()
  const [first] = list
  if (!first) return null
  const { takes } = first
  const name = t(
    'app' in takes ? 'nav.assistants' : 'rest' in takes ? 'studio.collections' : 'studio.prompts',
  )
  const Label = 'app' in takes || 'rest' in takes ? 'span' : 'code'
  return (
    <div id={id} className="prompts" role="listbox" tabIndex={-1} aria-label={name}>
      {list.map((one, index) => (
        <button
          key={one.id}
          id={optionId(id, index)}
          type="button"
          role="option"
          aria-selected={index === at}
          className="menu-item w-full text-left"
          data-highlighted={index === at || undefined}
          tabIndex={-1}
          onClick={() => onPick(one)}
        >
          {/* Names of people's own are no code. */}
          <Label className="max-w-full flex-none">{one.label}</Label>
          <span className="min-w-0 truncate text-ink-3">{one.title}</span>
        </button>
      ))}
    </div>
  )
}
