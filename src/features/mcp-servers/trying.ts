import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { TOOLS_AT_ONCE_MAX } from '../../core/limits/machine.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { Call } from './call.ts'
import type { McpCallRequest, McpCallResponse, McpDefinition } from './model.ts'
import type { ParamHeader } from './param-headers.ts'
import type { Definition, McpServerStore, StoredServer } from './store.ts'

interface TryingOptions {
  readonly store: Pick<McpServerStore, 'definition'>
  /** Throws `mcp_not_available` without encryption. */
  readonly sealed: () => unknown
  readonly call: Call
  readonly clock: Pick<Clock, 'steady'>
  readonly find: (tenantId: string, id: string) => Promise<StoredServer>
}

/** Lets a person read the definition of a tool and try it, approved or not. */
export function createTrying({ store, sealed, call, clock, find }: TryingOptions) {
  const calls = createSemaphore({ perKey: TOOLS_AT_ONCE_MAX })

  async function stored(tenantId: string, id: string, name: string): Promise<Definition> {
    const tool = await store.definition(tenantId, id, name)
    if (!tool) throw appError('not_found', { what: 'mcp_tool' })
    return tool
  }

  return {
    async definition(tenantId: string, id: string, name: string): Promise<McpDefinition> {
      sealed()
      await find(tenantId, id)
      return shownDefinition(await stored(tenantId, id, name))
    },

    /** Calls the tool within the limits of a turn. Rejects with the signal's reason. */
    async call(
      tenantId: string,
      id: string,
      { tool: name, arguments: args }: McpCallRequest,
      signal: AbortSignal,
    ): Promise<McpCallResponse> {
      const server = await find(tenantId, id)
      const tool = await stored(tenantId, id, name)
      if (tool.reason !== null) throw appError('mcp_tool_unusable')
      const paramHeaders = JSON.parse(tool.paramHeaders) as ParamHeader[]
      return calls.run(
        tenantId,
        async () => {
          const startedAt = clock.steady()
          const called = { name, paramHeaders }
          const outcome = await call(server, called, args, { signal, depth: 0 })
          const ms = Math.round(clock.steady() - startedAt)
          return { ok: outcome.ok, ms, text: outcome.text, error_class: outcome.errorClass }
        },
        signal,
      )
    },
  }
}

function shownDefinition(tool: Definition): McpDefinition {
  const { name, description, schema, hash, approvedDescription, approvedSchema } = tool
  return {
    name,
    description,
    schema: schemaOf(schema),
    hash,
    approved:
      approvedDescription === null || approvedSchema === null
        ? null
        : { description: approvedDescription, schema: schemaOf(approvedSchema) },
    ...pastOf(tool),
  }
}

function pastOf({ approvedAt, approvedBy, calledAt, calledOk }: Definition) {
  return {
    ...(approvedAt === null ? {} : { approval: { at: approvedAt, by: approvedBy } }),
    ...(calledAt === null ? {} : { last_call: { at: calledAt, ok: calledOk === 1 } }),
  }
}

const schemaOf = (text: string | null) =>
  text ? (JSON.parse(text) as Record<string, unknown>) : null
