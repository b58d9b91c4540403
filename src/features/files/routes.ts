import { z } from 'zod'
import { appError } from '../../core/errors.ts'
import { clampedLimit } from '../../core/fields.ts'
import { FILE_PASSAGES_DEFAULT, FILE_PASSAGES_MAX } from '../../core/limits/contract.ts'
import type { PrincipalKind } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { pageDoc, pageOf } from '../../http/list-page.ts'
import { type FormFile, readForm } from '../../http/multipart.ts'
import { formDoc, queryDoc } from '../../http/openapi-parts.ts'
import {
  ChatFile,
  ChatFileDeleted,
  ChatFilesResponse,
  ChatFileText,
  KeepRequest,
  KeptSource,
} from './model.ts'
import type { Files } from './service.ts'

const ALLOWED: readonly PrincipalKind[] = ['general', 'app', 'session']

const TEXT_QUERY = queryDoc({
  from: 'number of the first passage, from 0',
  count: 'passages returned, 1 to 20; default 10',
})

const fileBody = formDoc(z.object({}))
const keepBody = jsonBody(KeepRequest, { optional: true })

export interface FileRouteOptions {
  readonly files: Files
  readonly sources: { readonly fileBytesMax: () => number }
}

/** Files that people talk about; the same on both surfaces. */
export const fileRoutes = (on: Gated, { files, sources }: FileRouteOptions) =>
  on
    .post(
      '/files',
      async ({ principal, request, upload, set }) => {
        const file = await files.upload(principal, async (save) => {
          let sent: FormFile | null = null
          await readForm(request, upload, {
            file: 'file',
            fields: [],
            fileBytesMax: sources.fileBytesMax(),
            onFile(one) {
              sent = one
              return save(one.bytes)
            },
          })
          const { fileName = '', contentType = '' } = (sent ?? {}) as Partial<FormFile>
          return { title: undefined, fileName, contentType }
        })
        set.status = 202
        return file
      },
      {
        allow: ALLOWED,
        parse: 'none',
        response: { 202: ChatFile },
        detail: {
          summary: 'Add a file to talk about; it is read afterwards',
          requestBody: fileBody,
        },
      },
    )
    .get(
      '/files',
      ({ principal, request }) => {
        const { before, limit } = pageOf(request)
        return files.list(principal, before, limit)
      },
      {
        allow: ALLOWED,
        response: ChatFilesResponse,
        detail: { summary: 'List files to talk about, newest first', parameters: pageDoc('files') },
      },
    )
    .get('/files/:id', ({ principal, params }) => files.get(principal, params.id), {
      allow: ALLOWED,
      response: ChatFile,
      detail: { summary: 'A file to talk about, and how far it has been read' },
    })
    .delete('/files/:id', ({ principal, params }) => files.remove(principal, params.id), {
      allow: ALLOWED,
      response: ChatFileDeleted,
      detail: { summary: 'Delete a file to talk about' },
    })
    .get(
      '/files/:id/text',
      ({ principal, params, request }) => {
        const query = new URL(request.url).searchParams
        const from = query.get('from') || '0'
        if (!/^\d{1,9}$/.test(from)) throw appError('query_invalid', { field: 'from' })
        const count = clampedLimit(query.get('count'), FILE_PASSAGES_DEFAULT, FILE_PASSAGES_MAX)
        return files.text(principal, params.id, Number(from), count)
      },
      {
        allow: ALLOWED,
        response: ChatFileText,
        detail: { summary: 'Passages of a file that has been read', parameters: TEXT_QUERY },
      },
    )
    .post(
      '/files/:id/refresh',
      async ({ principal, params, set }) => {
        const file = await files.refresh(principal, params.id)
        set.status = 202
        return file
      },
      {
        allow: ALLOWED,
        parse: 'none',
        response: { 202: ChatFile },
        detail: { summary: 'Read a scan to talk about again, after it has failed' },
      },
    )
    .post(
      '/files/:id/keep',
      async ({ principal, params, request, upload, set }) => {
        const wanted = await keepBody.read(request, upload)
        const source = await files.keep(principal, params.id, wanted)
        set.status = 202
        return source
      },
      {
        allow: ALLOWED,
        parse: 'none',
        response: { 202: KeptSource },
        detail: {
          summary: 'Keep the text of a file in the knowledge base',
          requestBody: keepBody.doc,
        },
      },
    )
