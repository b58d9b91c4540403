import { z } from 'zod'
import { AppError, appError } from '../core/errors.ts'
import { checked } from '../core/fields.ts'
import { parseUntrustedJson } from '../core/json.ts'
import { joinBytes } from '../core/large-bytes.ts'
import { BODY_BYTES_MAX } from '../core/limits/contract.ts'
import { SHORT_BODY_BYTES_MAX } from '../core/limits/machine.ts'
import type { JsonParser } from './json-parser.ts'
import type { ParsedJson } from './json-worker.ts'
import { isOfferedBelow, withoutLatest } from './ollama-path.ts'
import type { BodyTimer, createBodyTimers, RequestMemory } from './request-limits.ts'

export interface JsonBodyOptions {
  readonly bytesMax?: number
  /** An absent or empty body counts as `{}`. */
  readonly optional?: boolean
  /** Documented in place of `schema` where the route checks its items one by one. */
  readonly shown?: z.ZodType
}

/**
 * One schema for what a route reads and what its documentation shows. Handlers read the body
 * themselves, after credential, rate limit and rights, so Elysia does not know it; `detail: {
 * requestBody: body.doc }` puts it into the OpenAPI document.
 */
export function jsonBody<Schema extends z.ZodType>(schema: Schema, options: JsonBodyOptions = {}) {
  const { bytesMax = BODY_BYTES_MAX, optional = false, shown = schema } = options
  return {
    /** Throws 413 for a body that is too large, else a 400 that names the field. */
    async read(request: Request, upload?: UploadContext): Promise<z.output<Schema>> {
      const bytes = await readBytes(request, bytesMax, upload)
      const isAbsent = optional && bytes.byteLength === 0
      const value = isAbsent ? {} : await jsonOf(bytes, upload)
      return check(schema, isOfferedBelow(request) ? withPlainModel(value) : value)
    },
    doc: {
      required: !optional,
      content: {
        'application/json': {
          // Made on demand, which keeps it out of the start.
          get schema() {
            return jsonSchema(shown, 'input')
          },
        },
      },
    },
  }
}

/** The body with the `model` that the client was told, less its tag. */
function withPlainModel(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('model' in body)) return body
  const { model } = body
  return typeof model === 'string' ? { ...body, model: withoutLatest(model) } : body
}

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: shown }) {
      // zod marks a union with a preprocessed option as optional.
      if (io === 'input' && zodSchema instanceof z.ZodObject) {
        const required = Object.entries(zodSchema.shape).filter(
          ([, field]) => !z.safeParse(field, undefined).success,
        )
        shown.required = required.map(([name]) => name)
      }
      // zod calls every fixed number a number.
      if (shown.type === 'number' && Number.isInteger(shown.const)) shown.type = 'integer'
    },
  })
  return rest as Record<string, unknown>
}

/** The functions of the server that authenticated uploads need. */
export interface Uploads {
  readonly timerFor: ReturnType<typeof createBodyTimers>
  readonly hold: RequestMemory['add']
  readonly parse: JsonParser['parse']
}

/** An authenticated upload: how long it may take, and whether its credential is still valid. */
export interface UploadContext {
  readonly timer: BodyTimer
  /** Resets the idle timeout only, for a body that may take any time while bytes arrive. */
  readonly keepOpen: () => void
  /** Counts bytes that a streamed body holds in memory. Throws `memory_full`. */
  readonly hold: (bytes: number) => void
  /** Throws 401 when the credential was revoked while the body was arriving. */
  readonly confirm: () => Promise<void>
  /** Parses a large body off the event loop. */
  readonly parse: (bytes: Uint8Array) => Promise<ParsedJson>
}

/**
 * Reads a body of at most `bytesMax`. Handlers call this instead of letting Elysia parse, because
 * credential, rate limit and rights are checked before a body is read. Nothing is decompressed: a
 * small body could become a huge one. Without a credential the body must arrive within the server's
 * idle limit. With a credential the body may be slow, until the credential is revoked.
 */
export async function readBytes(
  request: Request,
  bytesMax: number,
  upload?: UploadContext,
): Promise<Uint8Array> {
  const bytes = await readAll(request, bytesMax, upload?.timer)
  await upload?.confirm()
  return bytes
}

async function readAll(request: Request, bytesMax: number, timer?: BodyTimer): Promise<Uint8Array> {
  const coding = request.headers.get('content-encoding') ?? 'identity'
  if (!/^identity$/i.test(coding)) throw appError('unsupported_encoding')
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  if (announced > bytesMax) throw appError('body_too_large')
  if (announced <= (timer ? Math.min(bytesMax, SHORT_BODY_BYTES_MAX) : bytesMax)) {
    return new Uint8Array(await request.arrayBuffer())
  }
  const chunks: Uint8Array[] = []
  let size = 0
  timer?.(0)
  for await (const chunk of request.body ?? []) {
    timer?.(chunk.byteLength)
    size += chunk.byteLength
    if (size > bytesMax) throw appError('body_too_large')
    chunks.push(chunk)
  }
  return joinBytes(chunks)
}

/** The value of a body of at most `bytesMax`; undefined when it is no JSON. */
export async function readJsonValue(
  request: Request,
  bytesMax: number,
  upload?: UploadContext,
): Promise<unknown> {
  try {
    return await jsonOf(await readBytes(request, bytesMax, upload), upload)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_json') return undefined
    throw error
  }
}

/** A body of this size is parsed on the event loop, where hostile text takes it 3 ms. */
const SMALL_JSON_BYTES = 256 * 1024

const UTF8 = new TextDecoder('utf-8', { fatal: true })

async function jsonOf(bytes: Uint8Array, upload?: UploadContext): Promise<unknown> {
  if (upload && bytes.byteLength > SMALL_JSON_BYTES) {
    const parsed = await upload.parse(bytes)
    if (parsed === null) throw appError('invalid_json')
    return parsed.value
  }
  try {
    return parseUntrustedJson(UTF8.decode(bytes))
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
