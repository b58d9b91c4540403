import { Elysia } from 'elysia'
import { tenantSubject } from '../core/budget-subjects.ts'
import { appError } from '../core/errors.ts'
import { IDLE_SECONDS_MAX } from '../core/limits/machine.ts'
import type { BudgetedKey, Principal, PrincipalKind } from '../core/principal.ts'
import type { UploadContext, Uploads } from './body.ts'
import type { JoinedRoutes, Lane } from './door-routes.ts'
import type { RequestContexts } from './observe.ts'
import type { RateLimiter } from './request-limits.ts'

export interface Admission {
  readonly principal: Principal
  /** Added to the answer, such as the three rate-limit headers. */
  readonly headers: Readonly<Record<string, string>>
  /** Throws 401 when the credential was revoked meanwhile. */
  readonly confirm: () => Promise<void>
}

/** Keys of apps and devices are told that they cannot manage. */
const refusalOf = (kind: PrincipalKind) =>
  appError(kind === 'app' || kind === 'device' ? 'forbidden_key_kind' : 'forbidden', { who: kind })

/** The router leaves a part of a path undefined when its escape is malformed: no known id. */
function withoutGaps(params: Record<string, string | undefined>): void {
  for (const name in params) params[name] ??= '\ufffd'
}

/**
 * A credential gate: who is asking, then what that kind of credential may do. Both run before any
 * body is read. The machine side and the console side have one gate each, so neither side ever
 * looks at the credentials of the other.
 */
export const gate = (
  name: string,
  admit: (request: Request, route: string) => Promise<Admission>,
  uploads: Uploads,
) =>
  new Elysia({ name: 'gate', seed: name })
    .derive({ as: 'scoped' }, async ({ request, server, set, route }) => {
      const { principal, headers, confirm } = await admit(request, route)
      Object.assign(set.headers, headers)
      const owner = principal.tenantId
      const timer = uploads.timerFor(request, server, owner)
      const upload: UploadContext = {
        timer,
        confirm,
        keepOpen: () => server?.timeout(request, IDLE_SECONDS_MAX),
        hold: (bytes) => uploads.hold(request, owner, bytes),
        parse: (bytes) => uploads.parse(owner, bytes),
      }
      return { principal, upload }
    })
    .macro({
      allow: (kinds: readonly PrincipalKind[]) => ({
        transform: ({ principal, params }) => {
          withoutGaps(params)
          if (!principal) throw appError('unauthorized')
          if (!kinds.includes(principal.kind)) throw refusalOf(principal.kind)
        },
        detail: { security: [{ [name]: [] }] },
      }),
      /** Used together with `allow`: admits only operators. */
      requireOperator: (_: true) => ({
        transform: ({ principal }) => {
          if (!principal?.operator) throw appError('operator_only')
        },
      }),
    })

export type Gate = ReturnType<typeof gate>

/**
 * Where routes behind a gate are added: one for all of a surface, since Elysia registers the routes
 * of an instance once more wherever it is used. The type leaves the prefix out, so that routes see
 * the parameters of their own path.
 */
export const gated = (gate: Gate, prefix = '') => new Elysia({ prefix: prefix as '' }).use(gate)

export type Gated = ReturnType<typeof gated>

/** What the machine side needs of the key store. */
export interface KnownKey {
  readonly principal: Principal
  /** Requests a minute; 0 is unlimited. */
  readonly rateLimit: number
  /** Tokens a day; 0 is no budget. */
  readonly dailyTokens: number
  /** Tokens a day of its tenant; 0 is no limit. */
  readonly tenantTokens: number
}

/**
 * Routes of turns beside those of doors, which nobody without tokens left may call. Every turn
 * asks again when it opens; this is so early that no body is read and no speech recognised.
 */
const TURNS = new Set(['/v1/agent', '/v1/voice'])

/** What is checked and counted for each call of a key. */
export interface CallCounting {
  readonly limiter: RateLimiter
  /** Throws `budget_spent`, with these headers, where no tokens are left. */
  readonly checkBudget: (key: BudgetedKey, headers: Admission['headers']) => Promise<void>
  /** Called for each request with a valid key that is below its limits. */
  readonly onAdmitted: (principal: Principal) => void
}

export interface BearerOptions {
  readonly call: Call
  readonly contexts: RequestContexts
  readonly keys: {
    readonly find: (token: string) => Promise<KnownKey | null>
    /** Whether a key that was found has not been revoked since. */
    readonly stillValid: (principal: Principal) => Promise<boolean>
  }
  /** The key that acts where the request has none that is valid; null for nearly all requests. */
  readonly standIn: (request: Request) => string | null
  readonly doors: Pick<JoinedRoutes, 'turns' | 'lanes' | 'apiKey'>
}

/** RFC 6750, section 3; MCP clients look for it. */
const CHALLENGE = { 'www-authenticate': 'Bearer' }

const invalidKey = () => appError('invalid_key', {}, { headers: CHALLENGE })

/** Takes a slot of the key's rate limit for each call, and checks the token budgets for a turn. */
export function createCalls({ limiter, checkBudget, onAdmitted }: CallCounting) {
  return async (
    { rateLimit, dailyTokens, tenantTokens }: KnownKey,
    principal: Principal,
    isTurn: boolean,
    lane?: Lane,
  ): Promise<Record<string, string>> => {
    const { tenantId, keyId } = principal
    if (keyId === null) throw invalidKey()
    if (lane) {
      await limiter.take(`${lane.name} ${keyId}`, lane.most)
      if (lane.counts) onAdmitted(principal)
      return {}
    }
    const headers = await limiter.take(keyId, rateLimit)
    const budgets = [
      { tenantId, keyId, dailyTokens },
      { tenantId, keyId: tenantSubject(tenantId), dailyTokens: tenantTokens },
    ]
    for (const budget of budgets) {
      if (budget.dailyTokens > 0 && isTurn) await checkBudget(budget, headers)
    }
    onAdmitted(principal)
    return headers
  }
}

export type Call = ReturnType<typeof createCalls>

/** The key of an `Authorization` header; null when it holds none. */
export const bearerToken = (header: string | null): string | null =>
  SCHEME.exec(header ?? '')?.[1] ?? null

/** An `Authorization` with any token goes before `X-Api-Key`. */
function tokenOf({ headers }: Request, takesApiKey: boolean): string | null {
  const given = headers.get('authorization')
  if (!takesApiKey || /^Bearer +\S/i.test(given ?? '')) return bearerToken(given)
  return bearerToken(`Bearer ${headers.get('x-api-key')?.trim() ?? ''}`)
}

const SCHEME = /^Bearer ([\x21-\x7e]{1,200})$/i

/**
 * Admits a Bearer key. Missing, malformed, unknown and revoked keys get the same 401, which takes
 * no rate-limit slot.
 */
export const bearer =
  ({ call, contexts, keys, standIn, doors }: BearerOptions) =>
  async (request: Request, route: string): Promise<Admission> => {
    const token = tokenOf(request, doors.apiKey.has(route))
    const own = token === null ? null : await keys.find(token)
    const other = own === null ? standIn(request) : null
    const key = other === null ? own : await keys.find(other)
    if (!key) throw invalidKey()
    const principal = nestedIn(request, route, key.principal)
    contexts.note(request, { principal })
    const isTurn = TURNS.has(route) || doors.turns.has(route)
    const headers = await call(key, principal, isTurn, doors.lanes[route])
    const confirm = async () => {
      if (!(await keys.stillValid(principal))) throw invalidKey()
    }
    return { principal, headers, confirm }
  }

/**
 * The principal with its nesting depth: calls by MCP may come from another assistant, and tools
 * that a turn of this product runs send their depth.
 */
function nestedIn(request: Request, route: string, principal: Principal): Principal {
  const given = request.headers.get('x-moonbase-depth')
  if (given === null && route !== '/v1/mcp') return principal
  const depth = Math.max(1, Number.parseInt(given ?? '', 10) || 0)
  return { ...principal, nested: { depth, host: request.headers.get('host') ?? '' } }
}
