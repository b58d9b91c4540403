import { MCP_ROUNDS_MAX } from '../../core/limits/contract.ts'
import { type Elicit, ElicitationRefused, type Elicited } from '../../upstream/ports/mcp.ts'
import {
  type ExchangeOptions,
  exchange,
  isRecord,
  partOf,
  type RpcAnswer,
  resultOf,
  type ServerRequest,
} from './exchange.ts'
import { headersOf, type Session } from './legacy.ts'
import { listen } from './listening.ts'
import type { Request } from './modern.ts'

type Result = Readonly<Record<string, unknown>>

const ELICIT = 'elicitation/create'

const tooMany = () => new ElicitationRefused('the tool server asked too often')
const unknownKind = () => new ElicitationRefused('the tool server asked for something unknown')

interface Modern {
  ask(work: ExchangeOptions, request: Request, mayAsk: boolean): Promise<RpcAnswer>
}

/** Repeats a call with the answers of the person, as long as the server wants some. */
export async function callInRounds(
  modern: Modern,
  work: ExchangeOptions,
  request: Request,
  elicit: Elicit,
): Promise<Result> {
  let more = {}
  for (let round = 0; ; round++) {
    const { headers, method, params } = request
    const asked = { method, headers, params: { ...params, ...more } }
    const result = partOf(await modern.ask(work, asked, true))
    if (result.resultType !== 'input_required') return resultOf({ ...OK, result })
    if (round === MCP_ROUNDS_MAX) throw tooMany()
    const inputResponses = await answersTo(result.inputRequests, elicit)
    const { requestState } = result
    more = { inputResponses, ...(requestState === undefined ? {} : { requestState }) }
  }
}

const OK = { status: 200, sessionId: null, error: null }

/** Nobody is asked anything when one of the requests is no question to a person. */
async function answersTo(requests: unknown, elicit: Elicit): Promise<Record<string, Elicited>> {
  const wanted = isRecord(requests) ? Object.entries(requests) : []
  const all = wanted.map(([key, request]) => {
    if (!isRecord(request) || request.method !== ELICIT || !isRecord(request.params)) {
      throw unknownKind()
    }
    return [key, request.params] as const
  })
  if (all.length === 0) throw unknownKind()
  const answers: [string, Elicited][] = []
  for (const [key, params] of all) answers.push([key, await elicit(params)])
  return Object.fromEntries(answers)
}

/** A call in a session whose server sends its questions before the result. */
export async function callWithRequests(
  work: ExchangeOptions,
  session: Session,
  { method, params, headers }: Request,
  elicit: Elicit,
): Promise<RpcAnswer> {
  const over = new AbortController()
  const signal = AbortSignal.any([work.signal, over.signal])
  const own = { ...headers, ...headersOf(session) }
  let rounds = 0

  async function replyTo({ id, method: asked, params: wanted }: ServerRequest): Promise<void> {
    if (asked === 'ping') {
      await exchange(work, { id, result: {} }, own)
      return
    }
    if (asked !== ELICIT || !isRecord(wanted)) {
      await exchange(work, { id, error: { code: -32601, message: 'Method not found' } }, own)
      throw unknownKind()
    }
    if (++rounds > MCP_ROUNDS_MAX) throw tooMany()
    await exchange(work, { id, result: await elicit(wanted) }, own)
  }

  try {
    const asked = { ...work, signal, onRequest: replyTo }
    if (session.id !== null) await listen(asked, headersOf(session), (error) => over.abort(error))
    return await exchange(asked, { id: work.nextId(), method, params }, own)
  } finally {
    over.abort()
  }
}
