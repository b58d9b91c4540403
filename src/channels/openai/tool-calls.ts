import { newId } from '../../core/crypto.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { TOOL_ARGUMENTS_CHARS_MAX, TOOL_CALLS_MAX } from '../../core/limits/upstream.ts'
import { TextInPieces } from '../../core/text.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { CallMeter, ToolCall } from '../../upstream/ports/llm.ts'

/** One entry of `delta.tool_calls`, as vendors really send it: any field may be absent or null. */
export interface ToolFragment {
  readonly index?: unknown
  readonly id?: unknown
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null
}

/** Most characters that are searched for the end of a call that has neither index nor id. */
const LOOKED_THROUGH_CHARS_MAX = 16 * TOOL_ARGUMENTS_CHARS_MAX

/** Vendors allow 64 or 128 characters. */
const NAME_CHARS_MAX = 1_000

interface Draft {
  readonly index: number | null
  id: string
  name: string
  readonly args: TextInPieces
}

/**
 * Puts the calls of one answer together from fragments. A fragment belongs to the call of its
 * index; without one, to the call of its id; without either, to the last call, unless it names a
 * function and that call is complete. An index that comes back with a new id and a name is a new
 * call: some vendors number every call 0. The meter is told of arguments as they come.
 */
export function createToolCalls(meter?: Pick<CallMeter, 'wrote'>) {
  const drafts: Draft[] = []
  let chars = 0
  let lookedThrough = 0

  function isComplete({ args }: Draft): boolean {
    lookedThrough += args.length
    if (lookedThrough > LOOKED_THROUGH_CHARS_MAX) throw malformed()
    return isJson(args.toString())
  }

  function draftOf(index: number | null, id: string, name: string): Draft {
    const known = find(index, id, name)
    if (known) return known
    if (drafts.length >= TOOL_CALLS_MAX) throw malformed()
    const draft = { index, id: '', name: '', args: new TextInPieces() }
    drafts.push(draft)
    return draft
  }

  function find(index: number | null, id: string, name: string): Draft | undefined {
    if (index !== null) {
      const last = drafts.findLast((draft) => draft.index === index)
      const renewed = last && name !== '' && id !== '' && last.id !== '' && id !== last.id
      return renewed ? drafts.find((draft) => draft.index === index && draft.id === id) : last
    }
    if (id !== '') return drafts.find((draft) => draft.id === id)
    const last = drafts.at(-1)
    if (!last || name === '' || last.name === '') return last
    return name === last.name && !isComplete(last) ? last : undefined
  }

  return {
    /** Characters of all ids, names and arguments. */
    get heldChars(): number {
      return chars
    },

    add(fragment: ToolFragment | null): void {
      if (typeof fragment !== 'object' || fragment === null) return
      const index = typeof fragment.index === 'number' ? fragment.index : null
      const id = textOf(fragment.id)
      const name = textOf(fragment.function?.name)
      const draft = draftOf(index, id, name)
      if (draft.id === '') {
        draft.id = id
        chars += id.length
      }
      // Some vendors repeat the name, and a few send it in pieces before the arguments begin.
      if (draft.name === '' || (draft.args.length === 0 && name !== draft.name)) {
        draft.name += name
        chars += name.length
        if (draft.name.length > NAME_CHARS_MAX) throw malformed()
      }
      const args = argumentsOf(fragment.function?.arguments)
      chars += args.length
      if (chars > TOOL_ARGUMENTS_CHARS_MAX) throw malformed()
      draft.args.add(args)
      meter?.wrote(args)
    },

    /** The complete calls, ids made unique. Throws `ChannelFailure` for one without a name. */
    finish(): ToolCall[] {
      const ids = new Set<string>()
      return drafts.map(({ id, name, args: pieces }) => {
        const args = pieces.toString()
        if (name === '') throw malformed()
        const unique = id === '' || ids.has(id) ? `call_${newId()}` : id
        ids.add(unique)
        return { id: unique, name, arguments: args.trim() === '' ? '{}' : args }
      })
    },
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** Text in fragments; a few servers send the arguments as one object. */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ''
}

function isJson(text: string): boolean {
  try {
    parseUntrustedJson(text)
    return true
  } catch {
    return false
  }
}

const malformed = () => new ChannelFailure('provider_error', 'malformed tool call')
