import { Elysia } from 'elysia'
import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import { ConfigExport, ImportRequest, ImportRequestShown, ImportResult } from './model.ts'
import type { Transfer } from './service.ts'

const body = jsonBody(ImportRequest, { shown: ImportRequestShown })
const DOWNLOAD = queryDoc({ download: '1 makes a browser save the answer as a file (console)' })

/** Export and import of the configuration, on both surfaces. */
export const transferRoutes = (gate: Gate, transfer: Transfer, answers: JsonAnswers) =>
  new Elysia()
    .use(gate)
    .get(
      '/export',
      ({ principal, request, server, set }) =>
        answers.respond({ principal, request, server, set }, async () => {
          const config = await transfer.export(principal.tenantId)
          const wanted = new URL(request.url).searchParams.get('download') === '1'
          if (wanted && principal.kind === 'session') {
            const name = `moonbase-config-${config.exported_at.slice(0, 10)}.json`
            set.headers['content-disposition'] = `attachment; filename="${name}"`
          }
          return { ...config }
        }),
      {
        allow: MANAGERS,
        detail: {
          summary: 'Export personas, apps and settings',
          parameters: DOWNLOAD,
          responses: jsonDoc(ConfigExport),
        },
      },
    )
    .post(
      '/import',
      async ({ principal, request, upload }) =>
        transfer.import(principal.tenantId, await body.read(request, upload)),
      {
        allow: MANAGERS,
        parse: 'none',
        response: ImportResult,
        detail: { summary: 'Import personas, apps and settings', requestBody: body.doc },
      },
    )
