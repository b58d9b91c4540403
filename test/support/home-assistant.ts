/**
 * The MCP server of Home Assistant as `/api/mcp` answers (integration `mcp_server`, 2026): older
 * revisions without sessions, one JSON answer a POST, a long-lived token, tools of Assist.
 */

export const HOME_TOKEN = 'long-lived-token'

const LATEST = '2025-11-25'
const REVISIONS = [LATEST, '2025-06-18', '2025-03-26', '2024-11-05']
const METHODS = ['ping', 'tools/list', 'tools/call', 'prompts/list', 'prompts/get']

const words = { type: 'array', items: { type: 'string' } }
const place = { name: { type: 'string' }, area: { type: 'string' }, floor: { type: 'string' } }
/** Schemas are made without `required`. */
const tool = (name: string, description: string, properties: object) => ({
  ...{ name, description, inputSchema: { type: 'object', properties } },
})
const TOOLS = [
  tool('HassTurnOn', 'Turns on/opens/presses a device or entity.', {
    ...{ ...place, domain: words },
    device_class: { type: 'array', items: { type: 'string', enum: ['outlet', 'switch', 'tv'] } },
  }),
  tool('HassTurnOff', 'Turns off/closes a device or entity.', { ...place, domain: words }),
  tool('HassLightSet', 'Sets the brightness percentage or color of a light', {
    ...{ ...place, domain: words, color: { type: 'string' } },
    brightness: { type: 'integer', minimum: 0, maximum: 100 },
    temperature: { type: 'integer', minimum: 0 },
  }),
  tool('HassCancelAllTimers', 'Cancels all timers', { area: { type: 'string' } }),
  tool('GetLiveContext', 'Provides real-time information about states.', {}),
]

interface Rpc {
  readonly id?: number
  readonly method: string
  readonly params?: { protocolVersion?: string; name?: string; arguments?: { name?: string } }
}

/** `using home = startHomeAssistant()` */
export function startHomeAssistant() {
  const calls: object[] = []

  function resultOf({ method, params = {} }: Rpc): object {
    if (method === 'initialize') {
      const { protocolVersion = '' } = params
      return {
        protocolVersion: REVISIONS.includes(protocolVersion) ? protocolVersion : LATEST,
        capabilities: { prompts: { listChanged: false }, tools: { listChanged: false } },
        serverInfo: { name: 'home-assistant', version: '1.26.0' },
      }
    }
    if (method === 'tools/list') return { tools: TOOLS }
    if (method !== 'tools/call') return {}
    calls.push(params)
    const { name } = params.arguments ?? {}
    const isKnown = name === 'Kitchen light'
    const text = isKnown
      ? JSON.stringify({ speech: {}, response_type: 'action_done', data: { success: [{ name }] } })
      : 'Error calling tool: <MatchFailedError reason=MatchFailedReason.NAME>'
    return { content: [{ type: 'text', text }], isError: !isKnown }
  }

  async function answer(request: Request): Promise<Response> {
    const { method, headers } = request
    if (headers.get('authorization') !== `Bearer ${HOME_TOKEN}`) {
      return new Response('401: Unauthorized', { status: 401 })
    }
    if (new URL(request.url).pathname !== '/api/mcp') return new Response(null, { status: 404 })
    if (method !== 'POST') return new Response('405: Method Not Allowed', { status: 405 })
    const isJson = (name: string) => headers.get(name)?.includes('application/json')
    if (!isJson('accept') || headers.get('content-type') !== 'application/json') {
      return new Response('Client must accept application/json', { status: 400 })
    }
    const rpc = (await request.json()) as Rpc
    if (rpc.id === undefined) return new Response(null, { status: 202 })
    const { id } = rpc
    if (rpc.method !== 'initialize' && !METHODS.includes(rpc.method)) {
      const error = { code: -32601, message: 'Method not found', data: rpc.method }
      return Response.json({ jsonrpc: '2.0', id, error })
    }
    return Response.json({ jsonrpc: '2.0', id, result: resultOf(rpc) })
  }

  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  return {
    url: `http://127.0.0.1:${server.port}/api/mcp`,
    calls,
    [Symbol.dispose]: () => void server.stop(true),
  }
}
