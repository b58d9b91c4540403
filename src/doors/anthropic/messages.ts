import type { ToolCall } from '../../upstream/ports/llm.ts'
import type { CallerMessage, CallerPart } from '../shared/conversation.ts'
import {
  blocksOf,
  type Given,
  invalid,
  isObject,
  type PdfTexts,
  partsOf,
  stringAt,
} from './blocks.ts'

const NAME_CHARS_MAX = 1_000

/**
 * The messages of a request as a turn knows them. A result of a tool becomes a message of its own,
 * right behind its call; a system message becomes words beside those of the user, so that the
 * beginning of what is sent to the model stays the same from turn to turn.
 */
export function callerMessages(messages: readonly unknown[], pdfs: PdfTexts): CallerMessage[] {
  const list = new MessageList(pdfs)
  for (const [index, message] of messages.entries()) list.add(message, `messages[${index}]`)
  const last = messages.at(-1)
  // Said here: one that holds nothing or thinking alone is left out.
  if (isObject(last) && last.role === 'assistant') {
    throw invalid('role', `messages[${messages.length - 1}].role`)
  }
  return list.end()
}

class MessageList {
  readonly #all: CallerMessage[] = []
  /** System messages that no message of the user stands beside yet. */
  #waiting: CallerPart[] = []

  constructor(readonly pdfs: PdfTexts) {}

  add(message: unknown, at: string): void {
    if (!isObject(message)) throw invalid('role', at)
    const { role, content } = message
    const inside = `${at}.content`
    if (role === 'assistant') this.#addAssistant(blocksOf(content, inside, true), at)
    else if (role === 'user') this.#addUser(blocksOf(content, inside), at)
    else if (role === 'system') this.#addSystem(blocksOf(content, inside), at)
    else throw invalid('role', `${at}.role`)
  }

  end(): CallerMessage[] {
    this.#placeWaiting()
    return this.#all
  }

  #addSystem(blocks: readonly Given[], at: string): void {
    const text = blocks
      .flatMap((block) => partsOf(block, at, this.pdfs))
      .filter((part) => typeof part === 'string')
      .join('\n')
    this.#waiting.push({ reminder: `<system-reminder>\n${text}\n</system-reminder>` })
    const before = this.#all.at(-1)
    if (before && before.role !== 'assistant') this.#placeWaiting()
  }

  #addUser(blocks: readonly Given[], at: string): void {
    const parts: CallerPart[] = []
    const results: CallerMessage[] = []
    for (const [index, block] of blocks.entries()) {
      const place = `${at}.content[${index}]`
      if (block.type !== 'tool_result') parts.push(...partsOf(block, place, this.pdfs))
      else results.push(this.#resultOf(block, place, parts))
    }
    const lastOther = this.#all.findLastIndex(({ role }) => role !== 'user')
    if (results.length > 0) this.#all.splice(lastOther + 1, 0, ...results)
    if (parts.length === 0 && results.length > 0) {
      if (this.#waiting.length > 0) this.#placeWaiting()
      return
    }
    // It held blocks alone that are left out; several models refuse an empty message.
    if (parts.length === 0 && blocks.length > 0) return
    this.#all.push({ at, role: 'user', parts: [...this.#waiting, ...parts] })
    this.#waiting = []
  }

  /** Its images become parts of the user's message, for results have text alone. */
  #resultOf(block: Given, at: string, parts: CallerPart[]): CallerMessage {
    const texts: string[] = []
    for (const inner of blocksOf(block.content, `${at}.content`, true)) {
      for (const part of partsOf(inner, at, this.pdfs)) {
        if (typeof part === 'string') texts.push(part)
        else if ('image' in part) parts.push({ image: part.image, isOfTool: true })
      }
    }
    const text = `${block.is_error === true ? 'error: ' : ''}${texts.join('\n')}`
    return { at, role: 'tool', callId: stringAt(block.tool_use_id, at, 'tool_use_id'), text }
  }

  #addAssistant(blocks: readonly Given[], at: string): void {
    const texts: string[] = []
    const calls: ToolCall[] = []
    for (const [index, block] of blocks.entries()) {
      const place = `${at}.content[${index}]`
      if (block.type === 'text') texts.push(stringAt(block.text, place, 'text'))
      if (block.type === 'tool_use') calls.push(callOf(block, place))
    }
    const text = texts.join('\n')
    // It held thinking alone.
    if (text === '' && calls.length === 0) return
    this.#placeWaiting()
    this.#all.push({ at, role: 'assistant', text, calls })
  }

  #placeWaiting(): void {
    if (this.#waiting.length === 0) return
    const parts = this.#waiting
    this.#waiting = []
    const before = this.#all.at(-1)
    if (before?.role === 'user') {
      this.#all[this.#all.length - 1] = { ...before, parts: [...before.parts, ...parts] }
    } else this.#all.push({ at: 'messages', role: 'user', parts })
  }
}

function callOf(block: Given, at: string): ToolCall {
  const [id, name] = [stringAt(block.id, at, 'id'), stringAt(block.name, at, 'name')]
  if (id.length > NAME_CHARS_MAX) throw invalid('id', `${at}.id`)
  if (name.length > NAME_CHARS_MAX) throw invalid('name', `${at}.name`)
  const input = block.input ?? {}
  if (!isObject(input)) throw invalid('input', `${at}.input`)
  return { id, name, arguments: JSON.stringify(input) }
}
