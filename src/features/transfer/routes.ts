import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { ClientAddress } from '../../http/client-address.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { readJsonObject } from '../../http/json-stream.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import type { Audit } from '../audit/service.ts'
import { ExportShown, ImportRequest, ImportRequestShown, ImportResult } from './model.ts'
import type { Transfer } from './service.ts'

const body = jsonBody(ImportRequest, { shown: ImportRequestShown })
const EXPORT_QUERY = queryDoc({
  kb: '1 adds the documents of the knowledge base, however many',
  download: '1 makes a browser save the answer as a file (console)',
})
const IMPORT_QUERY = queryDoc({
  kb: '1 reads a body of any size that is an export itself, with or without documents',
  mode: 'with kb=1: skip, or merge, as in the body otherwise',
})
export interface ImportAudit {
  readonly audit: Pick<Audit, 'record'>
  readonly addressOf: ClientAddress
}

/** Bytes that an export holds of each document before it is sent. */
const HEAD_BYTES = 400
const VALUES = {
  lists: ['personas', 'apps', 'mcp_servers', 'prompts', 'webhooks', 'collections', 'documents'],
  fields: ['format_version', 'settings'],
}

/** Export and import of the configuration, on both surfaces. */
export const transferRoutes = (
  on: Gated,
  transfer: Transfer,
  answers: JsonAnswers,
  { audit, addressOf }: ImportAudit,
) =>
  on
    .get(
      '/export',
      async ({ principal, request, server, set, upload }) => {
        const { tenantId, kind } = principal
        const query = new URL(request.url).searchParams
        const docs =
          query.get('kb') === '1' ? await transfer.exportDocuments(tenantId, upload.confirm) : null
        const load = async () => {
          const config = await transfer.export(tenantId)
          if (query.get('download') === '1' && kind === 'session') {
            const what = docs ? 'export' : 'config'
            const name = `moonbase-${what}-${config.exported_at.slice(0, 10)}.json`
            set.headers['content-disposition'] = `attachment; filename="${name}"`
          }
          return { ...config, ...(docs ? { documents: docs.items } : {}) }
        }
        const held = (docs?.count ?? 0) * HEAD_BYTES
        return answers.respond({ principal, request, server, set }, load, held)
      },
      {
        allow: MANAGERS,
        detail: {
          summary: 'Export personas, apps and settings, and with kb=1 the documents',
          parameters: EXPORT_QUERY,
          responses: jsonDoc(ExportShown),
        },
      },
    )
    .post(
      '/import',
      async ({ principal, request, server, upload }) => {
        const query = new URL(request.url).searchParams
        if (query.get('kb') !== '1') {
          return transfer.import(principal, await body.read(request, upload))
        }
        const mode = query.get('mode') === 'merge' ? 'merge' : 'skip'
        const values = readJsonObject(request, upload, VALUES, transfer.slice())
        let changed = false
        const onImport = () => {
          changed = true
        }
        const importing = transfer.importFile(principal, mode, values, { ...upload, onImport })
        return importing.catch(async (error) => {
          // Earlier parts are imported, but the audit hook only covers successful answers.
          const address = addressOf(request, server)
          const made = { principal, method: 'POST', route: '/import', target: null, address }
          if (changed) await audit.record(made)
          throw error
        })
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: ImportResult,
        detail: {
          summary: 'Import personas, apps and settings, and with kb=1 documents',
          parameters: IMPORT_QUERY,
          requestBody: body.doc,
        },
      },
    )
