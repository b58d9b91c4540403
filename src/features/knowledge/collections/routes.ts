import { appError } from '../../../core/errors.ts'
import { MANAGERS, type Principal, type PrincipalKind } from '../../../core/principal.ts'
import { jsonBody } from '../../../http/body.ts'
import type { Gated } from '../../../http/gate.ts'
import { pageDoc, pageOf } from '../../../http/list-page.ts'
import { queryDoc } from '../../../http/openapi-parts.ts'
import type { Access, KbView } from './access.ts'
import {
  Collection,
  CollectionDeleted,
  CollectionListResponse,
  CollectionRequest,
} from './model.ts'
import type { CollectionService } from './service.ts'

const body = jsonBody(CollectionRequest)

const READERS: readonly PrincipalKind[] = ['general', 'app', 'session']

const DELETE_QUERY = queryDoc({
  docs: 'keep (the default): its documents belong to none; delete: they go with it',
})

export const COLLECTION_QUERY = queryDoc({
  collection_id: 'id of a collection, or none: its documents alone',
})

/**
 * What the caller sees, narrowed to the collection of the query; an empty one is as absent, as in a
 * form. Throws 404 for one not seen.
 */
export async function viewIn(
  access: Access,
  { principal, request }: { readonly principal: Principal; readonly request: Request },
): Promise<KbView> {
  const collection = new URL(request.url).searchParams.get('collection_id')
  return access.narrow(await access.viewOf(principal), collection ? [collection] : null)
}

/** Collections of documents, on both surfaces. */
export const collectionRoutes = (on: Gated, collections: CollectionService) =>
  on
    .get(
      '/kb/collections',
      ({ principal, request }) => {
        const { before, limit } = pageOf(request)
        return collections.list(principal, before, limit)
      },
      {
        allow: READERS,
        response: CollectionListResponse,
        detail: { summary: 'List collections, newest first', parameters: pageDoc('collections') },
      },
    )
    .post(
      '/kb/collections',
      async ({ principal, request, upload, set }) => {
        const wanted = await body.read(request, upload)
        const made = await collections.create(principal.tenantId, wanted)
        set.status = 201
        return made
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: Collection },
        detail: { summary: 'Create a collection', requestBody: body.doc },
      },
    )
    .put(
      '/kb/collections/:id',
      async ({ principal, params, request, upload }) => {
        const wanted = await body.read(request, upload)
        return collections.replace(principal.tenantId, params.id, wanted)
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: Collection,
        detail: { summary: 'Rename or describe a collection', requestBody: body.doc },
      },
    )
    .delete(
      '/kb/collections/:id',
      ({ principal, params, request }) => {
        const docs = new URL(request.url).searchParams.get('docs') ?? 'keep'
        if (docs !== 'keep' && docs !== 'delete') {
          throw appError('query_invalid', { field: 'docs' })
        }
        return collections.remove(principal.tenantId, params.id, docs === 'delete')
      },
      {
        allow: MANAGERS,
        response: CollectionDeleted,
        detail: {
          summary: 'Delete a collection; its documents stay, or go with docs=delete',
          parameters: DELETE_QUERY,
        },
      },
    )
