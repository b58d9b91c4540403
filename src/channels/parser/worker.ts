import { writeFileSync } from 'node:fs'
import { type ParentLink, serveParent } from '../../upstream/child/worker-link.ts'
import {
  ParseFailure,
  type ParseFailureReason,
  type ParseTaskName,
  type ParseTasks,
} from '../../upstream/ports/parser.ts'

/** Messages between the server and a parse worker, which does one task at a time. */
export type ParseRequest =
  /** The next bytes of the task's input; it comes in pieces. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** Starts the task: its input has been sent, or lies in a file. */
  | {
      readonly type: 'begin'
      readonly name: string
      readonly options: unknown
      readonly path: string | null
    }

export type ParseAnswer =
  | { readonly type: 'part'; readonly part: unknown }
  | { readonly type: 'end' }
  | { readonly type: 'failed'; readonly reason: ParseFailureReason }

type Run<Name extends ParseTaskName> = (
  bytes: Uint8Array,
  options: ParseTasks[Name]['options'],
) => AsyncIterable<ParseTasks[Name]['part']>

/** One function for each task. */
export type ParseFunctions = { readonly [Name in ParseTaskName]: Run<Name> }

type Send = (answer: ParseAnswer) => void

/** The parse worker: does one task after another. Resolves when the server has gone. */
export function runParseWorker(
  functions: ParseFunctions,
  parent: ParentLink<ParseRequest>,
): Promise<void> {
  preferToBeKilled()
  // Decoders report every damaged frame of an upload to the console.
  Reflect.set(globalThis, 'console', { error() {}, warn() {}, info() {}, log() {}, debug() {} })
  return serveParent<ParseRequest, ParseAnswer>(parent, async (send) => {
    let pieces: Uint8Array[] = []
    return (request) => {
      if (request.type === 'bytes') {
        pieces.push(request.bytes)
        return
      }
      const sent = Buffer.concat(pieces)
      pieces = []
      void run(functions, sent, request, send)
    }
  })
}

async function run(
  functions: ParseFunctions,
  sent: Uint8Array,
  { name, options, path }: Extract<ParseRequest, { type: 'begin' }>,
  send: Send,
): Promise<void> {
  try {
    const bytes = path === null ? sent : await Bun.file(path).bytes()
    const task = functions[name as ParseTaskName] as Run<ParseTaskName>
    for await (const part of task(bytes, options as never)) {
      send({ type: 'part', part })
      // The parent measures the time between two parts, so each must be sent at once.
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    send({ type: 'end' })
  } catch (error) {
    const reason = error instanceof ParseFailure ? error.reason : 'unreadable'
    send({ type: 'failed', reason })
  }
}

/** When the machine runs out of memory, Linux ends this process before any other. */
function preferToBeKilled(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Other systems have no such file; there the parent's memory limit alone protects.
  }
}
