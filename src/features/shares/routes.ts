import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { Origins } from '../../http/origin.ts'
import {
  IssuedShare,
  Share,
  ShareChange,
  ShareDeleteResponse,
  ShareRequest,
  SharesResponse,
} from './model.ts'
import type { Shares } from './service.ts'

const create = jsonBody(ShareRequest)
const change = jsonBody(ShareChange)

/** The shares of an app, on both surfaces. */
export const shareRoutes = (on: Gated, shares: Shares, { base }: Pick<Origins, 'base'>) =>
  on
    .get(
      '/apps/:id/shares',
      ({ principal, params, request }) => shares.list(principal, base(request), params.id),
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
        const share = await shares.create(principal, base(request), params.id, asked)
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
    .put(
      '/apps/:id/shares/:share',
      async ({ principal, params, request, upload }) => {
        const { id, share } = params
        const asked = await change.read(request, upload)
        return shares.change(principal, base(request), id, share, asked)
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: Share,
        detail: { summary: 'Change a share; what is omitted stays', requestBody: change.doc },
      },
    )
    .post(
      '/apps/:id/shares/:share/rotate',
      ({ principal, params, request }) =>
        shares.rotate(principal, base(request), params.id, params.share),
      {
        allow: MANAGERS,
        parse: 'none',
        response: IssuedShare,
        detail: { summary: 'Give a share a new link; the old one ends' },
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
