import type { Busboy, BusboyFileStream } from '@fastify/busboy'
import { appError } from '../core/errors.ts'
import type { UploadContext } from './body.ts'

/** A file of a form, as it arrives. */
export interface FormFile {
  readonly fileName: string
  readonly contentType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface FormOptions {
  /** The name of the field that holds the file. */
  readonly file: string
  /** Names of the text fields that are read; others are skipped. */
  readonly fields: readonly string[]
  readonly fileBytesMax: number
  /** Reads the file piece by piece; the client waits meanwhile. */
  readonly onFile: (file: FormFile) => Promise<void>
}

/** Limit for boundaries, headers and text fields besides the file. */
const REST_BYTES_MAX = 64 * 1024
const FIELD_BYTES_MAX = 8 * 1024
/** The parser works on this much before other events pass. */
const STEP_BYTES = 64 * 1024

/**
 * Reads a form of `multipart/form-data` (RFC 7578) with one file and returns its text fields;
 * values of one name that ends in `[]` are joined by commas. The file is passed on as it arrives
 * and never held as a whole. Throws 413 for a file that is too large, 400 for a malformed form, and
 * 401 when the credential was revoked meanwhile; the file that `onFile` reads has failed by then,
 * too.
 */
export async function readForm(
  request: Request,
  upload: UploadContext,
  options: FormOptions,
): Promise<ReadonlyMap<string, string>> {
  const coding = request.headers.get('content-encoding') ?? 'identity'
  if (!/^identity$/i.test(coding)) throw appError('unsupported_encoding')
  const bytesMax = options.fileBytesMax + REST_BYTES_MAX
  const tooLarge = () => appError('file_too_large', { max: options.fileBytesMax / 1024 / 1024 })
  if (Number(request.headers.get('content-length')) > bytesMax) throw tooLarge()
  const form = await parserFor(request, options)
  const reading = readParts(form, options, tooLarge)
  try {
    let size = 0
    upload.timer(0)
    for await (const chunk of request.body ?? []) {
      upload.timer(0)
      size += chunk.length
      if (size > bytesMax) throw tooLarge()
      for (let at = 0; at < chunk.length; at += STEP_BYTES) {
        await Promise.race([written(form, chunk.subarray(at, at + STEP_BYTES)), reading.failed])
      }
    }
    form.end()
    const fields = await reading.finish()
    await upload.confirm()
    return fields
  } catch (error) {
    await reading.stop(error)
    await upload.confirm()
    throw error
  }
}

async function parserFor(request: Request, { fileBytesMax }: FormOptions): Promise<Busboy> {
  const contentType = request.headers.get('content-type') ?? ''
  if (!/^multipart\/form-data\b/i.test(contentType)) throw appError('form_invalid')
  // Imported with the first form, because it loads Node's streams.
  const { Busboy } = await import('@fastify/busboy')
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: {
        fields: 32,
        fieldSize: FIELD_BYTES_MAX,
        fileSize: fileBytesMax,
        parts: 64,
        headerPairs: 32,
        headerSize: FIELD_BYTES_MAX,
      },
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    })
  } catch (error) {
    throw appError('form_invalid', {}, { cause: error })
  }
}

/** Resolves when the parser, and the reader of its file, accept more. */
async function written(form: Busboy, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => form.write(bytes, () => resolve()))
  await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Follows the parts of a form while it is written into the parser. */
function readParts(form: Busboy, options: FormOptions, tooLarge: () => Error) {
  const fields = new Map<string, string>()
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let stream: BusboyFileStream | null = null
  let saved: Promise<void> | null = null

  form.on('error', (error) => fail(appError('form_invalid', {}, { cause: error })))
  // The parser only skips what is beyond: seconds of work for a file's size of empty fields.
  for (const limit of ['partsLimit', 'fieldsLimit'] as const) {
    form.on(limit, () => fail(appError('form_invalid')))
  }
  form.on('finish', () => end())
  form.on('field', (name, value, _isNameCut, isCut) => {
    if (!options.fields.includes(name)) return
    if (isCut) fail(appError('field_invalid', { field: name }))
    // Names such as `x[]` may occur several times.
    const before = name.endsWith('[]') ? fields.get(name) : undefined
    const text = value.replaceAll('\0', '\ufffd')
    fields.set(name, before === undefined ? text : `${before},${text}`)
  })
  form.on('file', (name, file, fileName, _encoding, contentType) => {
    // The parser reports an unfinished part twice; the form's own report is the one that counts.
    file.on('error', () => {})
    if (name !== options.file || stream) {
      file.resume()
      if (stream && name === options.file) fail(appError('field_invalid', { field: name }))
      return
    }
    stream = file
    file.on('limit', () => fail(tooLarge()))
    saved = options.onFile({ fileName, contentType, bytes: file })
    saved.catch(fail)
  })
  // Marked as handled, also when nothing awaits it any more.
  failed.catch(() => {})

  /** Resolves with the text fields once the file was read. */
  async function finish(): Promise<ReadonlyMap<string, string>> {
    await Promise.race([ended, failed])
    if (!saved) throw appError('field_missing', { field: options.file })
    await Promise.race([saved, failed])
    return fields
  }

  return {
    failed,
    finish,
    /** Ends the file with an error and waits until its reader has received it. */
    async stop(error: unknown): Promise<void> {
      stream?.destroy(error as Error)
      await saved?.catch(() => {})
    },
  }
}
