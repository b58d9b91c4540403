import { z } from 'zod'
import { KB_TITLE_CHARS_MAX, SOURCE_ORIGIN_CHARS_MAX } from '../../../core/limits/contract.ts'
import type { PrincipalKind } from '../../../core/principal.ts'
import { jsonBody, type UploadContext } from '../../../http/body.ts'
import type { Gated } from '../../../http/gate.ts'
import type { JsonAnswers } from '../../../http/json-answers.ts'
import { type FormFile, readForm } from '../../../http/multipart.ts'
import { formDoc, jsonDoc, queryDoc } from '../../../http/openapi-parts.ts'
import type { Access } from '../collections/access.ts'
import { COLLECTION_QUERY, viewIn } from '../collections/routes.ts'
import {
  KbLimitsResponse,
  Source,
  SourceChange,
  SourceDeleteResponse,
  SourcesResponse,
  UrlRequest,
} from './model.ts'
import type { UploadForm } from './receive.ts'
import type { Sources } from './service.ts'

const ORIGIN_QUERY = queryDoc({
  origin_prefix: 'files alone whose origin begins with this',
})

const urlBody = jsonBody(UrlRequest)
const changeBody = jsonBody(SourceChange)

const fileBody = formDoc(
  z.object({
    title: z.string().max(KB_TITLE_CHARS_MAX).optional(),
    collection_id: z.string().optional(),
    origin: z.string().max(SOURCE_ORIGIN_CHARS_MAX).optional(),
    sha256: z.string().optional(),
  }),
)

/** The knowledge base belongs to the tenant, so keys of its apps may edit it; devices may not. */
const EDITORS: readonly PrincipalKind[] = ['general', 'app', 'session']

/** Files and web pages of the knowledge base; the same on both surfaces. */
export const sourceRoutes = (on: Gated, options: SourceRouteOptions) => {
  additions(on, options)
  management(on, options)
}

export interface SourceRouteOptions {
  readonly sources: Sources
  readonly access: Access
  readonly answers: JsonAnswers
}

const additions = (on: Gated, { sources, access }: SourceRouteOptions) =>
  on
    .post(
      '/kb/files',
      async ({ principal, request, upload, set }) => {
        const { source, isNew } = await sources.upload(
          principal,
          (save) => receive(request, upload, sources.fileBytesMax(), save),
          (given) => access.target(principal, given),
        )
        set.status = isNew ? 202 : 200
        return source
      },
      {
        allow: EDITORS,
        parse: 'none',
        response: { 200: Source, 202: Source },
        detail: { summary: 'Add a file; it is read afterwards', requestBody: fileBody },
      },
    )
    .post(
      '/kb/urls',
      async ({ principal, request, upload, set }) => {
        const body = await urlBody.read(request, upload)
        const { collection_id, ...page } = body
        const collection = await access.target(principal, collection_id)
        const source = await sources.addUrl(principal, { ...page, collection })
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

const management = (on: Gated, { sources, access, answers }: SourceRouteOptions) =>
  on
    .get('/kb/limits', ({ principal }) => sources.limitsOf(principal.tenantId), {
      allow: EDITORS,
      response: KbLimitsResponse,
      detail: { summary: 'How much a tenant may store' },
    })
    .get(
      '/kb/sources',
      async (context) => {
        const view = await viewIn(access, context)
        const prefix = new URL(context.request.url).searchParams.get('origin_prefix')
        return answers.respond(context, () => sources.list(view, prefix))
      },
      {
        allow: EDITORS,
        detail: {
          summary: 'List files and web pages',
          parameters: [...COLLECTION_QUERY, ...ORIGIN_QUERY],
          responses: jsonDoc(SourcesResponse),
        },
      },
    )
    .get(
      '/kb/sources/:id',
      async ({ principal, params }) => sources.get(await access.viewOf(principal), params.id),
      {
        allow: EDITORS,
        response: Source,
        detail: { summary: 'A file or web page, and how far it has been read' },
      },
    )
    .put(
      '/kb/sources/:id',
      async ({ principal, params, request, upload }) => {
        const { refresh, collection_id, title } = await changeBody.read(request, upload)
        const view = await access.viewOf(principal)
        const to = await access.destination(principal, collection_id)
        if (refresh !== undefined) await sources.setRefresh(view, params.id, refresh)
        // What may be refused comes before what may not.
        const moved = await sources.move(view, params.id, to)
        if (title === undefined) return moved
        await sources.rename(view, params.id, title)
        return sources.get(view, params.id)
      },
      {
        allow: EDITORS,
        parse: 'none',
        response: Source,
        detail: {
          summary: 'Rename a file or web page, move it, or set how often a page is checked',
          requestBody: changeBody.doc,
        },
      },
    )
    .post(
      '/kb/sources/:id/refresh',
      async ({ principal, params, set }) => {
        const source = await sources.refresh(await access.viewOf(principal), params.id)
        set.status = 202
        return source
      },
      {
        allow: EDITORS,
        parse: 'none',
        response: { 202: Source },
        detail: { summary: 'Check a web page now, or read a failed scan again' },
      },
    )
    .delete(
      '/kb/sources/:id',
      async ({ principal, params }) => sources.remove(await access.viewOf(principal), params.id),
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
    fields: ['title', 'collection_id', 'origin', 'sha256'],
    fileBytesMax,
    onFile(one) {
      file = one
      return save(one.bytes)
    },
  })
  const { fileName = '', contentType = '' } = (file ?? {}) as Partial<FormFile>
  const collection = fields.get('collection_id') || undefined
  const [title, origin, sha256] = ['title', 'origin', 'sha256'].map((name) => fields.get(name))
  return { title, fileName, contentType, collection, origin, sha256 }
}
