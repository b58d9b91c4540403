import { z } from 'zod'
import { appError } from '../../core/errors.ts'
import type { Conversation } from '../../features/agent/turn-config.ts'
import type { ToolSpec } from '../../upstream/ports/llm.ts'
import { schemaObject, text } from './fields.ts'

/** Tools of a caller, as chat completions and responses have them in common. */

export const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)

/** A function; in chat completions these fields are one level deeper. */
export const functionFields = {
  name: toolName,
  description: text().nullish(),
  parameters: schemaObject('object').nullish(),
  strict: z.boolean().nullish(),
}
type GivenFunction = z.output<z.ZodObject<typeof functionFields>>

/** A tool without parameters takes none: several upstreams refuse a schema that does not say so. */
export const specOf = ({ name, description, parameters, strict }: GivenFunction): ToolSpec => ({
  name,
  description: description ?? '',
  parameters: { type: 'object', properties: {}, ...parameters },
  ...(typeof strict === 'boolean' ? { strict } : {}),
})

/** What the model may call or must call. `names`: the only tools of the caller that it may. */
export type Choice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly name: string }
  | { readonly mode: 'auto' | 'required'; readonly names: readonly string[] }

export const choiceMode = z.enum(['auto', 'required'])

/** The tools that the model is offered. Throws a 400 for a choice of a tool that is not there. */
export function choose(
  choice: Choice,
  clientTools: readonly ToolSpec[],
): Pick<Conversation, 'clientTools' | 'toolChoice'> {
  if (typeof choice === 'string') return { clientTools, toolChoice: choice }
  const names = new Set('name' in choice ? [choice.name] : choice.names)
  const chosen = clientTools.filter(({ name }) => names.has(name))
  const isMissing = [...names].some((name) => !chosen.some((tool) => tool.name === name))
  if (isMissing || ('mode' in choice && choice.mode === 'required' && names.size === 0)) {
    throw appError('field_invalid', { field: 'tool_choice' }, { param: 'tool_choice' })
  }
  if ('name' in choice) return { clientTools, toolChoice: choice }
  return { clientTools: chosen, toolChoice: choice.mode }
}
