import { NEXT_PATH_CHARS_MAX } from '../../core/limits/machine.ts'

const HERE = 'http://here.invalid'

/**
 * Where to go after a login: a path of this site, else its root. Resolved the way a browser does
 * it, because `//host`, `/\\host` and `/.//host` look like paths and are other sites.
 */
export function safePath(text: string | null): string {
  if (text === null || text.length > NEXT_PATH_CHARS_MAX || !text.startsWith('/')) return '/'
  const url = URL.parse(text, HERE)
  if (url?.origin !== HERE) return '/'
  const path = url.pathname + url.search + url.hash
  return path.startsWith('//') ? '/' : path
}
