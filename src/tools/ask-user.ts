import { z } from 'zod'
import { ASK_OPTION_CHARS_MAX, ASK_QUESTION_CHARS_MAX } from '../core/limits/contract.ts'
import { isForm } from './forms.ts'
import { Declined, defineTool, NeedsApproval, ToolFailure } from './tool.ts'

const option = z.string().trim().min(1).max(ASK_OPTION_CHARS_MAX)

/** Lets the model ask the person of the turn, who sees the question as a card. */
export const askUser = defineTool({
  name: 'ask_user',
  description:
    'Asks the person a question and waits for the answer. Give options (2 to 6) for a choice, ' +
    'multiple when several may be chosen, or schema (a flat JSON Schema object) for a form. ' +
    'Use it only when you cannot go on without the answer.',
  args: z.object({
    question: z.string().trim().min(1).max(ASK_QUESTION_CHARS_MAX),
    options: z.array(option).min(2).max(6).optional(),
    multiple: z.boolean().optional(),
    schema: z.record(z.string(), z.unknown()).optional(),
  }),
  async run({ question: message, options, multiple, schema }, { person }) {
    if (!person) throw new NeedsApproval()
    if (schema && !isForm(schema)) {
      throw new ToolFailure('schema: not an object of at most 20 strings, numbers or booleans')
    }
    const reply = await person.ask({
      kind: 'question',
      server: null,
      tool: 'ask_user',
      message,
      ...(schema ? { schema } : {}),
      ...(options ? { options: [...new Set(options)] } : {}),
      ...(options && multiple ? { multiple } : {}),
    })
    if (reply === null) throw new NeedsApproval()
    if (reply.action === 'decline') throw new Declined()
    return JSON.stringify(reply.content)
  },
})
