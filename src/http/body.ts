import type { z } from 'zod'
import { appError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { SHORT_BODY_BYTES_MAX } from '../core/limits/machine.ts'
import { checked } from '../core/validate.ts'
import type { Patience } from './body-timeout.ts'

/** Somebody known whose body is read. */
export interface Sender {
  readonly patience: Patience
  /** Throws 401 when the credential was revoked while the body was on its way. */
  readonly confirm: () => Promise<void>
}

/**
 * Reads a body no further than `bytesMax`. Handlers call this instead of letting the framework
 * parse, because credentials, rate limit and rights are to be checked before a body is read.
 * Nothing is decompressed: a small body could become a huge one. Without a known sender a body that
 * is not there when the server's idle limit ends is cut off; of one it is read as patiently as the
 * credential holds.
 */
export async function readBytes(
  request: Request,
  bytesMax: number,
  sender?: Sender,
): Promise<Uint8Array> {
  const bytes = await readAll(request, bytesMax, sender?.patience)
  await sender?.confirm()
  return bytes
}

async function readAll(
  request: Request,
  bytesMax: number,
  patience?: Patience,
): Promise<Uint8Array> {
  const coding = request.headers.get('content-encoding') ?? 'identity'
  if (!/^identity$/i.test(coding)) throw appError('unsupported_encoding')
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  if (announced > bytesMax) throw appError('body_too_large')
  if (announced <= (patience ? Math.min(bytesMax, SHORT_BODY_BYTES_MAX) : bytesMax)) {
    return new Uint8Array(await request.arrayBuffer())
  }
  const chunks: Uint8Array[] = []
  let size = 0
  patience?.(0)
  for await (const chunk of request.body ?? []) {
    patience?.(chunk.byteLength)
    size += chunk.byteLength
    if (size > bytesMax) throw appError('body_too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * A JSON body checked against `schema`: 413 when too large, 400 with the field's name otherwise.
 */
export async function readJson<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  bytesMax: number,
  sender?: Sender,
): Promise<z.output<Schema>> {
  return check(schema, jsonOf(await readBytes(request, bytesMax, sender)))
}

/** As `readJson`; an absent or empty body counts as `{}`. */
export async function readOptionalJson<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  bytesMax: number,
  sender?: Sender,
): Promise<z.output<Schema>> {
  const bytes = await readBytes(request, bytesMax, sender)
  return check(schema, bytes.byteLength === 0 ? {} : jsonOf(bytes))
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw appError('invalid_json')
  }
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw appError('invalid_json')
  }
  return checked(schema, value)
}
