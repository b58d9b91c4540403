import { appError } from '../../core/errors.ts'
import type { OpenShare } from '../../features/shares/store.ts'
import type { Origins } from '../../http/origin.ts'

/**
 * Lets pages of this server and of the sites of a share read an answer. Throws `cross_origin` for a
 * page of a site that the share does not name.
 */
export const createOriginCheck =
  (origins: Pick<Origins, 'of' | 'asked'>) =>
  (request: Request, share: OpenShare, headers: Record<string, string | number>): void => {
    headers.vary = 'Origin'
    const origin = request.headers.get('origin')
    if (origin === null || origin === origins.of(request) || origin === origins.asked(request)) {
      return
    }
    if (!share.origins.includes(origin)) throw appError('cross_origin')
    headers['access-control-allow-origin'] = origin
    headers['access-control-expose-headers'] = 'Retry-After, X-Error-Code, X-Request-Id'
  }
