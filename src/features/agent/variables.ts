import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { VARIABLE_CHARS_MAX, VARIABLES_MAX } from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'

const NAME = /^[a-z0-9_]{1,32}$/
const INVALID = issue('field_invalid', { field: 'variables' })
const TOO_LONG = issue('field_too_long', { field: 'variables', max: VARIABLE_CHARS_MAX })
const TOO_MANY = issue('too_many_items', { field: 'variables', max: VARIABLES_MAX })

/** Control characters have no place in a prompt, but for ends of lines and tabs. */
const withoutControls = (value: string) => value.replace(/[^\P{Cc}\n\t]/gu, '').toWellFormed()

/** Values for `{{var:…}}` in prompts, by their names. */
export const variables = z
  .record(z.string(), z.string({ error: INVALID }), {
    error: issue('field_type', { field: 'variables', kind: 'object' }),
  })
  .refine((given) => Object.keys(given).length <= VARIABLES_MAX, { error: TOO_MANY })
  .refine((given) => Object.keys(given).every((name) => NAME.test(name)), { error: INVALID })
  .refine((given) => Object.values(given).every((one) => charCount(one) <= VARIABLE_CHARS_MAX), {
    error: TOO_LONG,
  })
  .transform((given) =>
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, withoutControls(value)]),
    ),
  )
  .default({})

/** What the variables of a prompt stand for in one turn. */
export interface VariableContext {
  /** Epoch milliseconds. */
  readonly now: number
  /** An IANA name; null: UTC. */
  readonly timeZone: string | null
  /** Null: Chinese. */
  readonly language: 'zh' | 'en' | null
  readonly appName: string | null
  readonly deviceName: string | null
  /** The address of the person. */
  readonly email: string | null
  readonly values: Readonly<Record<string, string>>
}

function partOfTime(word: string, context: VariableContext): string {
  const timeZone = context.timeZone ?? 'UTC'
  const at = new Date(context.now)
  if (word === 'weekday') {
    const locale = context.language === 'en' ? 'en-US' : 'zh-CN'
    return new Intl.DateTimeFormat(locale, { timeZone, weekday: 'long' }).format(at)
  }
  const shown = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at)
  return word === 'date' ? shown.slice(0, 10) : shown.slice(-5)
}

const VARIABLE = /\{\{(?:now:(date|time|weekday)|(app|device|user):name|var:([a-z0-9_]{1,32}))\}\}/g

/** The prompt with values in place of its variables; unknown ones stay as they were written. */
export function withVariables(prompt: string, contextOf: () => VariableContext): string {
  if (!prompt.includes('{{')) return prompt
  const context = contextOf()
  const names = {
    app: context.appName ?? '',
    device: context.deviceName ?? '',
    user: context.email?.split('@')[0] ?? '',
  }
  return prompt.replace(VARIABLE, (whole, time, noun: keyof typeof names, name) => {
    if (time) return partOfTime(time, context)
    if (noun) return names[noun]
    return Object.hasOwn(context.values, name) ? (context.values[name] ?? '') : whole
  })
}
