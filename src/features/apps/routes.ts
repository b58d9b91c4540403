import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import {
  App,
  AppDeleteResponse,
  AppKeyIssueResponse,
  AppKeyRequest,
  AppListResponse,
  AppUpsertRequest,
  AppVersionsResponse,
} from './model.ts'
import type { Apps } from './service.ts'

const upsert = jsonBody(AppUpsertRequest)
const keyRequest = jsonBody(AppKeyRequest, { optional: true })

/** Apps and their keys, on both surfaces. */
export const appRoutes = (on: Gated, apps: Apps) =>
  on
    .get('/apps', ({ principal }) => apps.list(principal.tenantId), {
      allow: MANAGERS,
      response: AppListResponse,
      detail: { summary: 'List apps' },
    })
    .post(
      '/apps',
      async ({ principal, request, upload, set }) => {
        const input = await upsert.read(request, upload)
        const app = await apps.create(principal.tenantId, input)
        set.status = 201
        return app
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: App },
        detail: { summary: 'Create an app', requestBody: upsert.doc },
      },
    )
    .get('/apps/:id', ({ principal, params }) => apps.read(principal.tenantId, params.id), {
      allow: MANAGERS,
      response: App,
      detail: { summary: 'Read an app' },
    })
    .put(
      '/apps/:id',
      async ({ principal, params, request, upload }) =>
        apps.replace(principal, params.id, await upsert.read(request, upload)),
      {
        allow: MANAGERS,
        parse: 'none',
        response: App,
        detail: {
          summary: 'Replace an app; `collections` alone stay where they are not named',
          requestBody: upsert.doc,
        },
      },
    )
    .get(
      '/apps/:id/versions',
      ({ principal, params }) => apps.versions(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: AppVersionsResponse,
        detail: { summary: 'List the last versions of an app that changes have replaced' },
      },
    )
    .get(
      '/apps/:id/versions/:version',
      ({ principal, params }) => apps.version(principal.tenantId, params.id, params.version),
      {
        allow: MANAGERS,
        response: App,
        detail: { summary: 'An app as it was in a version; restoring it is replacing the app' },
      },
    )
    .delete('/apps/:id', ({ principal, params }) => apps.remove(principal.tenantId, params.id), {
      allow: MANAGERS,
      response: AppDeleteResponse,
      detail: { summary: 'Delete an app and revoke its keys' },
    })
    .post(
      '/apps/:id/keys',
      async ({ principal, params, request, upload, set }) => {
        const asked = await keyRequest.read(request, upload)
        const issued = await apps.issueKey(principal, params.id, asked)
        set.status = 201
        return issued
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: AppKeyIssueResponse },
        detail: { summary: 'Issue a key of an app', requestBody: keyRequest.doc },
      },
    )
