import { useId, useState } from 'react'
import type { Ask } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { TextField } from '../../ui/form.tsx'
import { Argument, Lines } from '../tools/argument.tsx'
import { type ArgumentField, argumentsOf, objectIn, type Problem } from '../tools/arguments.ts'
import { filledFields } from './ask-fields.ts'

type Content = Readonly<Record<string, unknown>>

/** What a person types as an answer; `read` gives it, or null and shows what is wrong. */
export interface Answering {
  readonly fields: readonly ArgumentField[]
  readonly typed: Readonly<Record<string, string>>
  readonly problems: Readonly<Record<string, Problem>>
  type(name: string, text: string): void
  /** All arguments as one text, where no fields can hold them; else null. */
  readonly raw: string | null
  readonly chosen: readonly string[]
  choose(option: string): void
  read(): Content | null
}

const RAW = ''
const ANSWER = 'answer'

export function useAnswer(ask: Ask): Answering {
  const { kind, options, multiple, schema } = ask
  const given = ask.arguments ?? {}
  const known = filledFields(schema ?? {}, kind === 'approval' ? given : null)
  const names = new Set(known.map(({ name }) => name))
  const isRaw = kind === 'approval' && Object.keys(given).some((name) => !names.has(name))
  const first: Readonly<Record<string, string>> = isRaw
    ? { [RAW]: JSON.stringify(given, null, 2) }
    : {}
  const [typed, setTyped] = useState(first)
  const [problems, setProblems] = useState<Readonly<Record<string, Problem>>>({})
  const [chosen, setChosen] = useState<readonly string[]>([])
  function fail(wrong: Readonly<Record<string, Problem>>): null {
    setProblems(wrong)
    return null
  }
  /** Whether anything differs from what the model has given. */
  const isEdited = isRaw
    ? typed[RAW] !== first[RAW]
    : known.some(({ name, initial }) => (typed[name] ?? initial) !== initial)
  function readForm(): Content | null {
    if (isRaw) return objectIn(typed[RAW] ?? '') ?? fail({ [RAW]: 'object' })
    const { args, problems: wrong } = argumentsOf(known, typed)
    return Object.keys(wrong).length > 0 ? fail(wrong) : args
  }
  return {
    fields: isRaw ? [] : known,
    typed,
    problems,
    type: (name, text) => setTyped({ ...typed, [name]: text }),
    raw: isRaw ? (typed[RAW] ?? '') : null,
    chosen,
    choose: (option) => setChosen(multiple ? toggled(chosen, option) : [option]),
    read() {
      if (kind === 'link') return {}
      if (kind === 'question' && !schema) {
        const words = options ? chosen : [(typed[ANSWER] ?? '').trim()].filter(Boolean)
        if (words.length === 0) return fail({ [ANSWER]: 'missing' })
        return multiple ? { answers: words } : { answer: words[0] }
      }
      if (kind === 'approval' && !isEdited) return {}
      const args = readForm()
      if (args === null || kind === 'question') return args
      return { arguments: args }
    },
  }
}

const toggled = (chosen: readonly string[], option: string) =>
  chosen.includes(option) ? chosen.filter((one) => one !== option) : [...chosen, option]

interface AskFormProps {
  readonly ask: Ask
  readonly answering: Answering
}

/** The arguments of a call, or the fields of an answer. */
export function AskForm({ ask, answering }: AskFormProps) {
  const { t } = useI18n()
  const { fields, typed, problems, raw } = answering
  if (raw !== null) {
    return (
      <Lines
        label={t('tools.try.raw.label')}
        problem={problems[RAW] && t(`tools.try.problem.${problems[RAW]}`)}
        value={raw}
        rows={6}
        onText={(text) => answering.type(RAW, text)}
      />
    )
  }
  if (ask.options) return <Options options={ask.options} ask={ask} answering={answering} />
  if (ask.kind === 'question' && !ask.schema) {
    return (
      <TextField
        label={t('studio.ask.answer')}
        problem={problems[ANSWER] && t(`tools.try.problem.${problems[ANSWER]}`)}
        value={typed[ANSWER] ?? ''}
        onText={(text) => answering.type(ANSWER, text)}
      />
    )
  }
  if (fields.length === 0) return <p className="text-ink-2">{t('studio.ask.nothing')}</p>
  return fields.map((field) => (
    <Argument
      key={field.name}
      field={field}
      problem={problems[field.name]}
      value={typed[field.name] ?? field.initial}
      onText={(text) => answering.type(field.name, text)}
    />
  ))
}

interface OptionsProps extends AskFormProps {
  readonly options: readonly string[]
}

function Options({ options, ask, answering }: OptionsProps) {
  const { t } = useI18n()
  const problem = answering.problems[ANSWER]
  const wrong = useId()
  return (
    <fieldset className="grid gap-2" aria-describedby={problem && wrong}>
      <legend className="sr-only">{t('studio.ask.answer')}</legend>
      {options.map((option) => (
        <label key={option} className="flex items-center gap-2">
          <input
            type={ask.multiple ? 'checkbox' : 'radio'}
            name={ask.id}
            checked={answering.chosen.includes(option)}
            aria-invalid={problem && true}
            aria-describedby={problem && wrong}
            onChange={() => answering.choose(option)}
          />
          {option}
        </label>
      ))}
      {problem && (
        <p id={wrong} className="problem" role="alert">
          {t(`tools.try.problem.${problem}`)}
        </p>
      )}
    </fieldset>
  )
}
