import { Tokenizer, TokenParser, TokenType } from '@streamparser/json'
import { appError } from '../core/errors.ts'
import { JSON_DEPTH_MAX, JSON_SIGNS_MAX, STREAMED_ITEM_BYTES_MAX } from '../core/limits/machine.ts'
import type { TimeSlice } from '../core/time-slice.ts'
import type { UploadContext } from './body.ts'

/** A value of a streamed object: a whole field, or one item of a list. */
export interface StreamedValue {
  readonly field: string
  readonly value: unknown
  /** About how long it was. */
  readonly bytes: number
}

export interface StreamedFields {
  /** Fields whose items are yielded one by one. */
  readonly lists: readonly string[]
  /** Fields that are yielded whole. */
  readonly fields: readonly string[]
}

/** Bytes that are parsed in one step, in a quarter of a millisecond. */
const STEP_BYTES = 16 * 1024

/** Deeper levels are inside a value: the object is level 1, a list in it level 2. */
const BETWEEN_VALUES = 2

/**
 * Reads a body that is a JSON object of any size, value by value. The client waits while a value is
 * processed; fields that are not asked for are dropped as they arrive. Throws `invalid_json` when
 * the body is malformed or truncated, or has a value that is larger, deeper or has more items than
 * any value that an export writes.
 */
export async function* readJsonObject(
  request: Request,
  upload: UploadContext,
  wanted: StreamedFields,
  slice: TimeSlice,
): AsyncGenerator<StreamedValue> {
  const coding = request.headers.get('content-encoding') ?? 'identity'
  if (!/^identity$/i.test(coding)) throw appError('unsupported_encoding')
  const parser = createObjectParser(wanted)
  let held = 0
  upload.keepOpen()
  for await (const chunk of piecesOf(request)) {
    upload.keepOpen()
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      const { values, error } = parser.write(chunk.subarray(at, at + STEP_BYTES))
      // A value is in memory until it has been worked on, and the next one grows beside it.
      if (parser.pending() > held) {
        upload.hold(parser.pending() - held)
        held = parser.pending()
      }
      yield* values
      if (error !== null) throw appError('invalid_json', {}, { cause: error })
      if (slice.isOver()) await slice.next()
    }
  }
  if (!parser.isEnded()) throw appError('invalid_json')
}

/** The body; a lost connection ends it like a truncated file. */
async function* piecesOf(request: Request): AsyncGenerator<Uint8Array> {
  try {
    yield* request.body ?? []
  } catch (error) {
    throw appError('client_closed', {}, { cause: error })
  }
}

function createObjectParser({ lists, fields }: StreamedFields) {
  const paths = [...lists.map((name) => `$.${name}.*`), ...fields.map((name) => `$.${name}`)]
  const tokenizer = new Tokenizer({ stringBufferSize: 64 * 1024 })
  const parser = new TokenParser({ paths, keepStack: false })
  let values: StreamedValue[] = []
  let depth = 0
  let signs = 0
  let begun = 0
  let end = 0

  parser.onValue = ({ value, key, stack }) => {
    const field = String(stack[1]?.key ?? key)
    values.push({ field, value, bytes: end - begun })
  }
  tokenizer.onToken = (token) => {
    const { token: type, offset } = token
    if (type === TokenType.LEFT_BRACE || type === TokenType.LEFT_BRACKET) depth++
    if (type === TokenType.RIGHT_BRACE || type === TokenType.RIGHT_BRACKET) depth--
    signs++
    if (depth > JSON_DEPTH_MAX || signs > JSON_SIGNS_MAX)
      throw new Error('the value is too complex')
    end = offset
    parser.write(token)
    if (depth <= BETWEEN_VALUES) [begun, signs] = [offset, 0]
  }

  let read = 0
  return {
    /** The values that end in this piece, and the error after them, if any. */
    write(bytes: Uint8Array): {
      readonly values: readonly StreamedValue[]
      readonly error: unknown
    } {
      values = []
      read += bytes.length
      try {
        tokenizer.write(bytes)
        if (read - begun > STREAMED_ITEM_BYTES_MAX) throw new Error('the value is too large')
        return { values, error: null }
      } catch (error) {
        return { values, error }
      }
    },
    /** Bytes of the unfinished value. */
    pending: () => read - begun,
    isEnded: () => parser.isEnded,
  }
}
