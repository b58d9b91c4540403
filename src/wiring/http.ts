import { RATE_WINDOW_MS } from '../core/limits/contract.ts'
import { PERSON_REQUESTS_MAX, STUDIO_TURNS_MAX, TURN_BYTES_SURE } from '../core/limits/machine.ts'
import { errorFields } from '../core/log.ts'
import { createMemoryBudget } from '../core/memory-budget.ts'
import { createJsonAnswers } from '../http/json-answers.ts'
import { createRequestContexts } from '../http/observe.ts'
import {
  createBodyTimers,
  createRateLimiter,
  createRequestMemory,
  personLimit,
} from '../http/request-limits.ts'
import { createSse } from '../http/sse.ts'
import type { Adapters } from './adapters.ts'
import { requestBudgetBytes } from './machine.ts'

/** Limits that tests set to other values; 0 requests a minute are unlimited. */
export interface ServerLimits {
  /** Memory for the bodies of requests and the answers in progress. */
  readonly requestBytesMax?: number
  readonly personRequestsMax?: number
  readonly studioTurnsMax?: number
}

/** What all routes share: memory and time of requests, streams, lists, and rate limits. */
export function openHttp(adapters: Adapters, limits: ServerLimits) {
  const { requestBytesMax = requestBudgetBytes() } = limits
  const { personRequestsMax = PERSON_REQUESTS_MAX } = limits
  const { studioTurnsMax = STUDIO_TURNS_MAX } = limits
  const { live, clock, log, shared, jsonParser } = adapters
  const onError = (error: unknown) => log.error('stream failed', errorFields(error))
  const budget = createMemoryBudget(requestBytesMax, TURN_BYTES_SURE)
  const memory = createRequestMemory(budget)
  const limiter = createRateLimiter(shared.openWindows('key', RATE_WINDOW_MS))
  return {
    budget,
    memory,
    limiter,
    contexts: createRequestContexts(clock.steady),
    answers: createJsonAnswers({ clock, budget, onError }),
    sse: createSse({ clock, streamsMax: () => live.config().MB_MAX_STREAMS, memory, onError }),
    uploads: {
      timerFor: createBodyTimers({ steady: clock.steady, memory }),
      hold: memory.add,
      parse: jsonParser.parse,
    },
    personLimit: personLimit(limiter, 'console', personRequestsMax),
    studioLimit: personLimit(limiter, 'studio', studioTurnsMax),
  }
}
