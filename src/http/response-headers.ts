/** The headers that hooks have set for the answer to come, as Elysia holds them. */
export interface ResponseHeaders {
  headers: Record<string, string | number>
}

/**
 * Takes the headers over for a `Response` that is made by hand. Left in place, Elysia would merge
 * them by wrapping the body in a second response, which costs more than the rest of its work.
 */
export function takeHeaders(set: ResponseHeaders): Record<string, string> {
  const taken: Record<string, string> = {}
  for (const [name, value] of Object.entries(set.headers)) taken[name] = String(value)
  set.headers = {}
  return taken
}
