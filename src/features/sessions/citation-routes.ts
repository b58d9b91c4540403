import { MANAGERS } from '../../core/principal.ts'
import type { Gated } from '../../http/gate.ts'
import { scopeOf } from './access.ts'
import type { Citations } from './citation-store.ts'
import { KbCitationsResponse } from './model.ts'

export interface CitationRouteOptions {
  readonly citations: Citations
  /** Throws 404 for a document that the tenant does not have. */
  readonly checkDoc: (tenantId: string, id: string) => Promise<unknown>
}

/** Which turns were shown passages of a document. */
export const citationRoutes = (on: Gated, { citations, checkDoc }: CitationRouteOptions) =>
  on.get(
    '/kb/docs/:id/citations',
    async ({ principal, params, request }) => {
      await checkDoc(principal.tenantId, params.id)
      return { citations: await citations(scopeOf(principal), params.id, request.signal) }
    },
    {
      allow: MANAGERS,
      response: KbCitationsResponse,
      detail: { summary: 'Turns of the last seven days that a document was cited in' },
    },
  )
