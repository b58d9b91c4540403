import { appError } from '../../core/errors.ts'
import { IMAGE_PLACEHOLDER, IMAGES_MAX } from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'
import type { LlmMessage, ToolCall } from '../../upstream/ports/llm.ts'
import type { ChatLimits } from './fields.ts'

/** A file by its id, or as a data URL. */
export type CallerFile =
  | { readonly id: string }
  | { readonly data: string; readonly name: string; readonly param: string }

/** A text, an image by its address, a file, or a note. */
export type CallerPart =
  | string
  | { readonly image: string; readonly isOfTool?: boolean }
  | { readonly file: CallerFile }
  | Reminder

/** A text that the caller's program puts beside the words of the user. */
interface Reminder {
  readonly reminder: string
}

/** A message as a caller sends it; `at` is its place in the body, such as `messages[2]`. */
export type CallerMessage = { readonly at: string } & (
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly parts: readonly CallerPart[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string }
)

/** A conversation as a turn needs it. */
export interface TurnConversation {
  /** The last message of the user. */
  readonly text: string
  readonly images: readonly string[]
  /** The files of all messages that are kept. */
  readonly files: readonly CallerFile[]
  /** The system messages. */
  readonly context: string
  readonly messages: readonly LlmMessage[]
}

/** `field` is the list in the body; `callId` the field of a result that names its call. */
export interface FieldNames {
  readonly field: string
  readonly callId: string
}

/**
 * Checks and reads a conversation. With `tailOnly`, keeps only the system messages and the messages
 * from the user's last one on, because a session has the rest. Throws a 400 that names the field.
 */
export function readConversation(
  messages: readonly CallerMessage[],
  { field, callId }: FieldNames,
  tailOnly: boolean,
  limits: ChatLimits,
): TurnConversation {
  checkLength(messages, field, limits.chars)
  checkCalls(messages, callId)
  const last = messages.at(-1)
  const lastUser = messages.findLast(isUsers)
  if (!last || lastUser?.role !== 'user') throw invalid(field, field)
  if (last.role !== 'user' && last.role !== 'tool') throw invalid('role', `${last.at}.role`)
  const texts = lastUser.parts.filter((part) => typeof part === 'string')
  const text = texts.join('\n').trim()
  const images = lastUser.parts.flatMap((part) => (isImage(part) ? [part.image] : []))
  const hasFile = lastUser.parts.some(isFile)
  if (text === '' && images.length === 0 && !hasFile) {
    const param = lastUser.at === field ? field : `${lastUser.at}.content`
    throw appError('field_empty', { field: param }, { param })
  }
  const kept = tailOnly ? messages.slice(messages.lastIndexOf(lastUser)) : messages
  const context = messages.flatMap((message) => (message.role === 'system' ? [message.text] : []))
  const files = kept.flatMap(filesOf)
  return { text, images, files, context: context.join('\n\n'), messages: messagesOf(kept) }
}

const isFile = (part: CallerPart): part is { readonly file: CallerFile } =>
  typeof part !== 'string' && 'file' in part

const filesOf = (message: CallerMessage): readonly CallerFile[] =>
  message.role === 'user' ? message.parts.filter(isFile).map(({ file }) => file) : []

const isImage = (
  part: CallerPart,
): part is { readonly image: string; readonly isOfTool?: boolean } =>
  typeof part !== 'string' && 'image' in part

/** Whether the user says something, and not their tools and programs alone. */
const isUsers = (message: CallerMessage): boolean =>
  message.role === 'user' && (message.parts.length === 0 || message.parts.some(isOwn))

const isOwn = (part: CallerPart): boolean =>
  typeof part === 'string' || isFile(part) || (isImage(part) && !part.isOfTool)

const invalid = (field: string, param: string) => appError('field_invalid', { field }, { param })

function checkLength(messages: readonly CallerMessage[], field: string, max: number): void {
  const texts = messages.flatMap(textsOf)
  const sumOf = (lengthOf: (text: string) => number) =>
    texts.reduce((sum, text) => sum + lengthOf(text), 0)
  // Counts code points only when the cheaper count of UTF-16 units is over the limit.
  if (sumOf(({ length }) => length) <= max || sumOf(charCount) <= max) return
  throw appError('context_length_exceeded', { field, max }, { param: field })
}

/** Arguments of calls count, too: they are parsed and serialised like text. */
export function textsOf(message: CallerMessage): readonly string[] {
  if (message.role === 'user') return message.parts.flatMap((part) => textIn(part) ?? [])
  if (message.role !== 'assistant') return [message.text]
  return [message.text, ...message.calls.map((call) => call.arguments)]
}

const textIn = (part: CallerPart): string | null => {
  if (typeof part === 'string') return part
  return 'reminder' in part ? part.reminder : null
}

/** The result of a tool belongs to a call of the assistant's message before it. */
function checkCalls(messages: readonly CallerMessage[], field: string): void {
  let open: readonly ToolCall[] = []
  for (const message of messages) {
    if (message.role === 'assistant') open = message.calls
    else if (message.role === 'user') open = []
    else if (message.role === 'tool' && !open.some(({ id }) => id === message.callId)) {
      throw invalid(field, `${message.at}.${field}`)
    }
  }
}

/** Keeps the newest images and replaces each older one by a placeholder. */
function messagesOf(messages: readonly CallerMessage[]): LlmMessage[] {
  const images = messages.flatMap((message) =>
    message.role === 'user' ? message.parts.filter(isImage) : [],
  )
  const sent = new Set(images.slice(-IMAGES_MAX))
  return answered(messages)
    .filter((message) => message.role !== 'system')
    .filter((message) => message.role !== 'assistant' || !isEmpty(message))
    .map((message) => wireOf(message, sent))
}

/** Told to the model in place of a result, because models refuse a call without one. */
const NO_RESULT = 'There is no result: the call was interrupted.'

/**
 * Adds a result to each call that has none: a person may stop a program in a call of a tool, and
 * the conversation goes on after it.
 */
function answered(messages: readonly CallerMessage[]): CallerMessage[] {
  const all: CallerMessage[] = []
  let open: readonly ToolCall[] = []
  const close = () => {
    for (const { id } of open) all.push({ at: '', role: 'tool', callId: id, text: NO_RESULT })
    open = []
  }
  for (const message of messages) {
    if (message.role === 'tool') {
      const call = open.findIndex(({ id }) => id === message.callId)
      // A second result of a call, which models refuse as well.
      if (call < 0) continue
      open = open.toSpliced(call, 1)
    } else if (message.role !== 'system') close()
    all.push(message)
    if (message.role === 'assistant') open = message.calls
  }
  close()
  return all
}

/** Clients keep a failed answer as an empty message, which several upstreams refuse. */
const isEmpty = ({
  text,
  calls,
}: Extract<CallerMessage, { readonly role: 'assistant' }>): boolean =>
  text === '' && calls.length === 0

function wireOf(
  message: Exclude<CallerMessage, { readonly role: 'system' }>,
  sent: ReadonlySet<CallerPart>,
): LlmMessage {
  switch (message.role) {
    case 'user':
      return userMessage(message.parts, sent)
    case 'assistant':
      return { role: 'assistant', content: message.text, toolCalls: message.calls }
    case 'tool':
      return { role: 'tool', callId: message.callId, content: message.text }
  }
}

function userMessage(parts: readonly CallerPart[], sent: ReadonlySet<CallerPart>): LlmMessage {
  const texts: string[] = []
  const images: string[] = []
  for (const part of parts) {
    const text = textIn(part)
    if (text !== null) texts.push(text)
    else if (isFile(part)) texts.push(fileMark(part.file))
    else if (isImage(part) && sent.has(part)) images.push(part.image)
    else texts.push(IMAGE_PLACEHOLDER)
  }
  const content = texts.filter((one) => one !== '').join('\n')
  return { role: 'user', content, ...(images.length > 0 ? { images } : {}) }
}

/** Stands where the file was; what is in it is told elsewhere. */
const fileMark = (file: CallerFile): string => ('name' in file ? `[文件 ${file.name}]` : '')
