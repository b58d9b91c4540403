import { Elysia } from 'elysia'
import { z } from 'zod'
import { KB_TITLE_CHARS_MAX } from '../../../core/limits/contract.ts'
import type { PrincipalKind } from '../../../core/principal.ts'
import { jsonBody, type UploadContext } from '../../../http/body.ts'
import type { Gate } from '../../../http/gate.ts'
import type { JsonAnswers } from '../../../http/json-answers.ts'
import { type FormFile, readForm } from '../../../http/multipart.ts'
import { formDoc, jsonDoc } from '../../../http/openapi-parts.ts'
import {
  KbLimitsResponse,
  RefreshRequest,
  Source,
  SourceDeleteResponse,
  SourcesResponse,
  UrlRequest,
} from './model.ts'
import type { Sources, UploadForm } from './service.ts'

const urlBody = jsonBody(UrlRequest)
const refreshBody = jsonBody(RefreshRequest)

const fileBody = formDoc(z.object({ title: z.string().max(KB_TITLE_CHARS_MAX).optional() }))

/** The knowledge base belongs to the tenant, so keys of its apps may edit it; devices may not. */
const EDITORS: readonly PrincipalKind[] = ['general', 'app', 'session']

/** Files and web pages of the knowledge base; the same on both surfaces. */
export const sourceRoutes = (gate: Gate, sources: Sources, answers: JsonAnswers) =>
  new Elysia().use(additions(gate, sources)).use(management(gate, sources, answers))

const additions = (gate: Gate, sources: Sources) =>
  new Elysia()
    .use(gate)
    .post(
      '/kb/files',
      async ({ principal, request, upload, set }) => {
        const source = await sources.upload(principal.tenantId, (save) =>
          receive(request, upload, sources.fileBytesMax, save),
        )
        set.status = 202
        return source
      },
      {
        allow: EDITORS,
        parse: 'none',
        response: { 202: Source },
        detail: { summary: 'Add a file; it is read afterwards', requestBody: fileBody },
      },
    )
    .post(
      '/kb/urls',
      async ({ principal, request, upload, set }) => {
        const body = await urlBody.read(request, upload)
        const source = await sources.addUrl(principal.tenantId, body)
        set.status = 202
        return source
      },
      {
        allow: EDITORS,
        parse: 'none',
        response: { 202: Source },
        detail: {
          summary: 'Add a web page; it is fetched afterwards',
          requestBody: urlBody.doc,
        },
      },
    )

const management = (gate: Gate, sources: Sources, answers: JsonAnswers) =>
  new Elysia()
    .use(gate)
    .get('/kb/limits', () => sources.limits, {
      allow: EDITORS,
      response: KbLimitsResponse,
      detail: { summary: 'How much a tenant may store' },
    })
    .get(
      '/kb/sources',
      (context) => answers.respond(context, () => sources.list(context.principal.tenantId)),
      {
        allow: EDITORS,
        detail: { summary: 'List files and web pages', responses: jsonDoc(SourcesResponse) },
      },
    )
    .get('/kb/sources/:id', ({ principal, params }) => sources.get(principal.tenantId, params.id), {
      allow: EDITORS,
      response: Source,
      detail: { summary: 'A file or web page, and how far it has been read' },
    })
    .put(
      '/kb/sources/:id',
      async ({ principal, params, request, upload }) => {
        const { refresh } = await refreshBody.read(request, upload)
        return sources.setRefresh(principal.tenantId, params.id, refresh)
      },
      {
        allow: EDITORS,
        parse: 'none',
        response: Source,
        detail: { summary: 'Set how often a web page is checked', requestBody: refreshBody.doc },
      },
    )
    .post(
      '/kb/sources/:id/refresh',
      async ({ principal, params, set }) => {
        const source = await sources.refresh(principal.tenantId, params.id)
        set.status = 202
        return source
      },
      {
        allow: EDITORS,
        parse: 'none',
        response: { 202: Source },
        detail: { summary: 'Check a web page now' },
      },
    )
    .delete(
      '/kb/sources/:id',
      ({ principal, params }) => sources.remove(principal.tenantId, params.id),
      {
        allow: EDITORS,
        response: SourceDeleteResponse,
        detail: { summary: 'Delete a file or web page with its documents' },
      },
    )

async function receive(
  request: Request,
  upload: UploadContext,
  fileBytesMax: number,
  save: (bytes: FormFile['bytes']) => Promise<void>,
): Promise<UploadForm> {
  let file: FormFile | null = null
  const fields = await readForm(request, upload, {
    file: 'file',
    fields: ['title'],
    fileBytesMax,
    onFile(one) {
      file = one
      return save(one.bytes)
    },
  })
  const { fileName = '', contentType = '' } = (file ?? {}) as Partial<FormFile>
  return { title: fields.get('title'), fileName, contentType }
}
