import { appError } from '../../core/errors.ts'
import { BACKUP_PASSPHRASE_CHARS_MIN } from '../../core/limits/contract.ts'
import type { PrincipalKind } from '../../core/principal.ts'
import type { Gated } from '../../http/gate.ts'
import { BackupsResponse, OverviewResponse } from './machine-model.ts'

/** A backup that is being made, and the name of its file. */
export interface FreshBackup {
  readonly name: string
  readonly bytes: ReadableStream<Uint8Array>
}

export interface MachineRouteOptions {
  readonly overview: () => Promise<OverviewResponse>
  readonly backups: {
    readonly read: () => Promise<BackupsResponse>
    /** Throws `backup_no_place`. */
    readonly begin: () => void
    /** Throws `backup_failed` before the first byte. */
    readonly download: (passphrase: string, signal: AbortSignal) => Promise<FreshBackup>
  }
}

const PEOPLE: readonly PrincipalKind[] = ['session']
const HEADER = 'x-backup-passphrase'
/** Of other characters a header may keep other bytes than the terminal of a restore. */
const PRINTABLE = /^[\x20-\x7e]*$/

/** Throws `backup_passphrase`. */
function passphraseOf(request: Request): string {
  const given = (request.headers.get(HEADER) ?? '').trim()
  if (given.length < BACKUP_PASSPHRASE_CHARS_MIN || !PRINTABLE.test(given)) {
    throw appError('backup_passphrase', { min: BACKUP_PASSPHRASE_CHARS_MIN })
  }
  return given
}

/** What the server is and has, for its operators. */
export const machineRoutes = (on: Gated, { overview, backups }: MachineRouteOptions) =>
  on
    .get('/system/overview', () => overview(), {
      allow: PEOPLE,
      requireOperator: true,
      response: OverviewResponse,
      detail: { summary: 'The server in numbers' },
    })
    .get('/system/backups', () => backups.read(), {
      allow: PEOPLE,
      requireOperator: true,
      response: BackupsResponse,
      detail: { summary: 'List the backups of the server' },
    })
    .post(
      '/system/backups',
      async ({ set }) => {
        backups.begin()
        set.status = 202
        return backups.read()
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: { 202: BackupsResponse },
        detail: { summary: 'Make a backup now' },
      },
    )
    .get(
      '/system/backups/download',
      async ({ request }) => {
        const { name, bytes } = await backups.download(passphraseOf(request), request.signal)
        return new Response(bytes, {
          headers: {
            'content-type': 'application/octet-stream',
            'content-disposition': `attachment; filename="${name}"`,
            'cache-control': 'no-store',
          },
        })
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        detail: {
          summary: 'Download a fresh backup, encrypted by a passphrase',
          parameters: [
            {
              name: 'X-Backup-Passphrase',
              in: 'header' as const,
              required: true,
              schema: { type: 'string' as const },
            },
          ],
          responses: {
            200: {
              description: 'The backup',
              content: {
                'application/octet-stream': {
                  schema: { type: 'string' as const, format: 'binary' },
                },
              },
            },
          },
        },
      },
    )
