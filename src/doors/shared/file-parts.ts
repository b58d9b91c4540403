import { z } from 'zod'
import { AppError, appError } from '../../core/errors.ts'
import { TURN_FILES_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import type { TurnRequest } from '../../features/agent/turn-config.ts'
import type { Files } from '../../features/files/service.ts'
import type { CallerFile } from './conversation.ts'
import { list, name, refused } from './fields.ts'

/** Files in the messages of a caller: by the id of an upload, or as data, which is an upload. */

/** Unchecked data: it is read after the rights were checked. */
export const FileSource = z.object({
  file_id: name().nullish(),
  file_data: z.string().nullish(),
  filename: name().nullish(),
  file_url: refused('file_url'),
})

/** Ids of files that the turn is about. */
export const fileIds = list(name(), TURN_FILES_MAX).default([])

/** A turn with files that are still to be taken. */
export interface WantedTurn extends TurnRequest {
  readonly sentFiles?: readonly CallerFile[]
}

const UNNAMED = 'file'

/** `param` is the place of the part in the body. */
export function fileIn(part: z.output<typeof FileSource>, param: string): CallerFile {
  if (part.file_id) return { id: part.file_id }
  if (!part.file_data) throw appError('field_missing', { field: 'file_data' }, { param })
  return { data: part.file_data, name: part.filename?.trim() || UNNAMED, param }
}

const DATA_URL = /^data:[^,]*;base64,/i
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/

/** Throws a 400 for what is no data URL of base64. */
function bytesOf(data: string, param: string): Uint8Array {
  const [head = ''] = DATA_URL.exec(data.slice(0, 1_000)) ?? []
  const body = data.slice(head.length)
  if (head === '' || !BASE64.test(body)) {
    throw appError('field_invalid', { field: 'file_data' }, { param })
  }
  return Buffer.from(body, 'base64')
}

export interface FileTaking {
  readonly files: Pick<Files, 'take'>
  readonly sources: { readonly fileBytesMax: () => number }
}

/**
 * The turn with the ids of all its files; those that came as data are uploaded. Throws a 400 that
 * names the part, 413 for one that is too large, and what an upload throws.
 */
export async function withFiles(
  principal: Principal,
  { sentFiles = [], ...wanted }: WantedTurn,
  { files, sources }: FileTaking,
): Promise<TurnRequest> {
  const named = sentFiles.flatMap((file) => ('id' in file ? [file.id] : []))
  const sent = sentFiles.flatMap((file) => ('data' in file ? [file] : []))
  const ids = new Set([...(wanted.files ?? []), ...named])
  if (ids.size + sent.length === 0) return wanted
  if (principal.kind === 'device') throw appError('forbidden', { who: 'device' })
  const data = new Set(sent.map((file) => file.data))
  if (ids.size + data.size > TURN_FILES_MAX) {
    throw appError('too_many_items', { field: 'files', max: TURN_FILES_MAX }, { param: 'files' })
  }
  for (const file of sent) {
    const bytes = bytesOf(file.data, file.param)
    if (bytes.length > sources.fileBytesMax()) {
      throw appError('file_too_large', { max: sources.fileBytesMax() / 1024 / 1024 })
    }
    const id = await files.take(principal, file.name, bytes).catch((error: unknown) => {
      throw placed(error, file.param)
    })
    ids.add(id)
  }
  return { ...wanted, files: [...ids] }
}

/** An upload of an unknown kind is a fault of the body here. */
function placed(error: unknown, param: string): unknown {
  if (!(error instanceof AppError)) return error
  if (error.code === 'file_unsupported') {
    return appError('field_invalid', { field: 'file_data' }, { param })
  }
  return error.status === 400 ? new AppError(error.code, error.params, { param }) : error
}
