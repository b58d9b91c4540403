import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { TOOL_RESULT_CHARS_MAX } from '../../core/limits/upstream.ts'
import { charCount, firstChars } from '../../core/text.ts'
import { type Tool, ToolFailure } from '../../tools/tool.ts'
import { callNames } from '../../tools/tool-box.ts'

/** What is taken of a board's list of tools, which comes from its firmware. */
const TOOLS_MAX = 64
const SCHEMA_BYTES_MAX = 16 * 1024
const DESCRIPTION_CHARS_MAX = 2_000
const PAGES_MAX = 10
const CALL_MS_MAX = 5_000

/** The revision of the protocol that boards speak. */
const PROTOCOL_VERSION = '2024-11-05'
/** Tools that only a person may use, although some boards list them. */
const USER_ONLY = new Set(['self.reboot', 'self.upgrade_firmware', 'self.get_system_info'])

const Answer = z.object({
  id: z.number(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ message: z.string() }).optional(),
})

const Listed = z.object({
  name: z.string().min(1).max(200),
  description: z.string().catch(''),
  inputSchema: z.record(z.string(), z.unknown()).catch({ type: 'object', properties: {} }),
})
type Listed = z.infer<typeof Listed>

const Page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() })

const CallResult = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  isError: z.boolean().nullish(),
})

export interface DeviceToolsOptions {
  readonly clock: Pick<Clock, 'after'>
  /** Sends a message of JSON-RPC to the board. */
  readonly send: (payload: object) => void
}

/** A board's own tools: the board is an MCP server on its socket. */
export function createDeviceTools({ clock, send }: DeviceToolsOptions) {
  const waiting = new Map<number, PromiseWithResolvers<Record<string, unknown>>>()
  let lastId = 0
  let tools: readonly Tool[] = []

  /** Sends a request with a number as its id, as boards require. Rejects with `ToolFailure`. */
  async function request(method: string, params: object, signal?: AbortSignal) {
    const id = ++lastId
    const answer = Promise.withResolvers<Record<string, unknown>>()
    const fail = (why: string) => () => answer.reject(new ToolFailure(why))
    const onAbort = fail('the turn has ended')
    const cancel = clock.after(CALL_MS_MAX, fail('the device does not answer'))
    waiting.set(id, answer)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      send({ jsonrpc: '2.0', id, method, params })
      return await answer.promise
    } finally {
      cancel()
      waiting.delete(id)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  async function listAll(): Promise<Listed[]> {
    const all: Listed[] = []
    let cursor = ''
    for (let page = 0; page < PAGES_MAX && all.length < TOOLS_MAX; page++) {
      const listed = Page.safeParse(await request('tools/list', { cursor })).data
      if (!listed) break
      all.push(...listed.tools.flatMap((tool) => usable(tool) ?? []))
      if (!listed.nextCursor) break
      cursor = listed.nextCursor
    }
    return all.slice(0, TOOLS_MAX)
  }

  const toolOf = (listed: Listed, callName: string): Tool => ({
    spec: specOf(listed, callName),
    async run(args, { signal }) {
      const params = { name: listed.name, arguments: args ?? {} }
      const result = CallResult.safeParse(await request('tools/call', params, signal)).data
      if (!result) throw new ToolFailure('the device gave no sound answer')
      return textOf(result)
    },
  })

  return {
    /** The tools that are known now; a turn does not wait for more. */
    tools: () => tools,

    /** Asks the board for its tools. Never throws: after a failure there are no tools. */
    async list(): Promise<void> {
      try {
        const clientInfo = { name: 'moonbase', version: '1' }
        const capabilities = {}
        await request('initialize', { protocolVersion: PROTOCOL_VERSION, capabilities, clientInfo })
        send({ jsonrpc: '2.0', method: 'notifications/initialized' })
        const listed = await listAll()
        const names = callNames(
          'device',
          listed.map(({ name }) => name),
        )
        tools = listed.map((tool, i) => toolOf(tool, names[i] ?? ''))
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error
      }
    },

    /** Handles a message of the board; drops one that answers no request. */
    receive(payload: unknown): void {
      const answer = Answer.safeParse(payload).data
      const call = answer && waiting.get(answer.id)
      if (!call) return
      if (answer.error) call.reject(new ToolFailure(firstChars(answer.error.message, 500)))
      else call.resolve(answer.result ?? {})
    },

    /** Fails all open requests, because the socket is closed. */
    close(): void {
      tools = []
      for (const call of waiting.values()) call.reject(new ToolFailure('the device has left'))
    },
  }
}

export type DeviceTools = ReturnType<typeof createDeviceTools>

const specOf = ({ description, inputSchema }: Listed, name: string) => ({
  name,
  description: firstChars(description, DESCRIPTION_CHARS_MAX),
  parameters: inputSchema,
})

/** The tool for models; null for a malformed one and one of `USER_ONLY`. */
function usable(tool: unknown): Listed | null {
  const listed = Listed.safeParse(tool).data
  if (!listed || USER_ONLY.has(listed.name)) return null
  return Buffer.byteLength(JSON.stringify(listed.inputSchema)) > SCHEMA_BYTES_MAX ? null : listed
}

function textOf({ content, isError }: z.infer<typeof CallResult>): string {
  const text = content.map(({ type, text }) => text ?? `[${type}]`).join('\n')
  if (isError) throw new ToolFailure(firstChars(text, 500))
  return charCount(text) > TOOL_RESULT_CHARS_MAX ? firstChars(text, TOOL_RESULT_CHARS_MAX) : text
}
