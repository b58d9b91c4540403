export interface RouteName {
  readonly method: string
  readonly path: string
}

/** Answers which methods a path has, so that a wrong one is 405 with `Allow` and not 404. */
export function createRouteTable() {
  let rows: { method: string; pattern: RegExp }[] = []
  return {
    fill(routes: readonly RouteName[]): void {
      rows = routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }))
    },
    methodsOf(path: string): string[] {
      const methods = rows.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
      return [...new Set(methods)].sort()
    },
  }
}

/** As hooks see the route of an answered request: Elysia gives none where no route matched. */
export const routeLabel = (route: string | undefined): string => route || 'unmatched'

function patternOf(path: string): RegExp {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => {
      if (part === '*') return '/.*'
      if (part.startsWith(':')) return part.endsWith('?') ? '(?:/[^/]*)?' : '/[^/]+'
      return `/${part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`
    })
  return new RegExp(`^${parts.join('')}/?$`)
}
