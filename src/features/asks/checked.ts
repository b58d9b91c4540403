import { appError } from '../../core/errors.ts'
import { ASK_ANSWER_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Question } from '../../tools/asking.ts'
import { fits } from '../../tools/forms.ts'
import type { AskAnswerRequest } from './model.ts'

/** What is kept of a question to check its answer, and to name it in the audit. */
export type Asked = Pick<Question, 'kind' | 'server' | 'tool' | 'schema' | 'options' | 'multiple'>

/** An answer as the turn takes it. */
export interface Given {
  readonly action: AskAnswerRequest['action']
  readonly content: Readonly<Record<string, unknown>>
  readonly remember: boolean
}

const wrong = (field: string) => appError('field_invalid', { field })

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws a 400 for an answer that does not fit what was asked. */
export function checkedAnswer(asked: Asked, request: AskAnswerRequest): Given {
  const { action, content = {} } = request
  const remember = request.remember === 'session' && asked.kind === 'approval'
  if (action !== 'accept') return { action, content: {}, remember: false }
  if (JSON.stringify(content).length > ASK_ANSWER_CHARS_MAX * 8) throw wrong('content')
  if (asked.kind === 'approval') return { action, content: ofApproval(asked, content), remember }
  if (asked.kind === 'link') return { action, content: {}, remember }
  return { action, content: ofQuestion(asked, content), remember }
}

function ofApproval({ schema }: Asked, content: Given['content']): Given['content'] {
  if (!('arguments' in content)) return {}
  const args = content.arguments
  if (!isObject(args) || (schema && !fits(args, schema))) throw wrong('content.arguments')
  return { arguments: args }
}

function ofQuestion({ schema, options, multiple }: Asked, content: Given['content']) {
  if (schema) {
    if (!fits(content, schema)) throw wrong('content')
    return content
  }
  const { answer, answers } = content
  const isOffered = (one: unknown): one is string =>
    typeof one === 'string' &&
    one.trim() !== '' &&
    one.length <= ASK_ANSWER_CHARS_MAX &&
    (!options || options.includes(one))
  if (multiple) {
    const chosen = answers ?? (answer === undefined ? null : [answer])
    if (!Array.isArray(chosen) || chosen.length === 0 || !chosen.every(isOffered)) {
      throw wrong('content.answers')
    }
    return { answers: [...new Set(chosen)] }
  }
  if (!isOffered(answer)) throw wrong('content.answer')
  return { answer }
}
