import type { Question } from '../../tools/asking.ts'

type Json = Readonly<Record<string, unknown>>

/** A turn waits for its person, and goes on. */
export type AskEvent =
  | {
      readonly type: 'ask'
      readonly id: string
      readonly kind: Question['kind']
      readonly server: string | null
      readonly tool: string | null
      readonly title: string | null
      readonly message: string | null
      readonly arguments: Json | null
      readonly schema: Json | null
      readonly options: readonly string[] | null
      /** Present when more than one of the options may be chosen. */
      readonly multiple?: true
      readonly url: string | null
      readonly host: string | null
      readonly warning: string | null
      readonly expires_at: string
    }
  | {
      readonly type: 'ask_done'
      readonly id: string
      readonly action: 'accept' | 'decline' | 'cancel'
    }

export const askEvent = (id: string, question: Question, expiresAt: string): AskEvent => ({
  type: 'ask',
  id,
  kind: question.kind,
  server: question.server,
  tool: question.tool,
  title: question.title ?? null,
  message: question.message ?? null,
  arguments: question.arguments ?? null,
  schema: question.schema ?? null,
  options: question.options ?? null,
  ...(question.multiple ? { multiple: true } : {}),
  url: question.url ?? null,
  host: question.url === undefined ? null : new URL(question.url).host,
  warning: question.warning ?? null,
  expires_at: expiresAt,
})
