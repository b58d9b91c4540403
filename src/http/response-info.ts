import type { RequestFacts } from './request-context.ts'

/** The status of an answer as the hooks after it see it: Elysia sets none where it is 200. */
export const statusOf = ({ status }: { readonly status?: number | string }): number =>
  typeof status === 'number' ? status : 200

/** Milliseconds from the beginning of a request to `now`, by the clock of its facts. */
export const elapsedMs = (facts: RequestFacts | undefined, now: number): number =>
  now - (facts?.startedAt ?? now)
