import { Elysia } from 'elysia'
import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import { IssuedShare, ShareDeleteResponse, ShareRequest, SharesResponse } from './model.ts'
import type { Shares } from './service.ts'

const create = jsonBody(ShareRequest)

/** The shares of an app, on both surfaces. */
export const shareRoutes = (gate: Gate, shares: Shares) =>
  new Elysia()
    .use(gate)
    .get(
      '/apps/:id/shares',
      ({ principal, params }) => shares.list(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: SharesResponse,
        detail: { summary: 'List the shares of an app' },
      },
    )
    .post(
      '/apps/:id/shares',
      async ({ principal, params, request, upload, set }) => {
        const asked = await create.read(request, upload)
        const share = await shares.create(principal, params.id, asked)
        set.status = 201
        return share
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: IssuedShare },
        detail: { summary: 'Share an app by a link', requestBody: create.doc },
      },
    )
    .delete(
      '/apps/:id/shares/:share',
      ({ principal, params }) => shares.remove(principal.tenantId, params.id, params.share),
      {
        allow: MANAGERS,
        response: ShareDeleteResponse,
        detail: { summary: 'End a share' },
      },
    )
