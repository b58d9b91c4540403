import { hasJsonErrors } from '../../../src/http/error-forms.ts'
import { randomFrom } from '../crash-ledger.ts'
import { errorProblem, isRpcError } from '../error-answer.ts'
import { bodyFor, headerValue, type Schema, textOf } from './generate.ts'
import { HOSTILE_TEXTS, pick, type Random } from './values.ts'

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: Schema }>>
  }
}

/** The part of the product's OpenAPI document that the fuzzer reads. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export interface FuzzOptions {
  readonly url: string
  readonly document: Document
  /** Requests to each operation. */
  readonly rounds: number
  readonly seed: number
  /** Headers with a credential that may call a path. */
  readonly credential: (path: string, random: Random) => Readonly<Record<string, string>>
  /** Existing ids, so that requests get past "not found". */
  readonly ids: () => readonly string[]
}

export interface FuzzReport {
  readonly requests: number
  readonly byStatus: Readonly<Record<string, number>>
  readonly problems: readonly string[]
}

/** Patterns that an error must never contain: stack traces, SQL, paths, secrets. */
const LEAK =
  /\bat \w+ \(|node_modules|\.ts:|SQLITE|SELECT |constraint|\/tmp\/|sk-mb-[0-9a-f]|SECRET/

/** Routes that call an upstream may answer its failure. */
const MAY_502 =
  /\/(tts|tts\/stream|asr|voice|audio\/(speech|transcriptions)|kb\/(docs|search|docs\/\{id\}))$/
const MAY_503 = /\/provider/

/** Sends generated requests to every operation and checks the answers. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const random = randomFrom(options.seed)
  const byStatus: Record<string, number> = {}
  const problems: string[] = []
  let requests = 0
  for (let round = 0; round < options.rounds; round++) {
    for (const [path, operations] of Object.entries(options.document.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const sent = build(options, method.toUpperCase(), path, operation, random)
        const found = await send(sent, path)
        requests++
        byStatus[found.status] = (byStatus[found.status] ?? 0) + 1
        if (found.problem) problems.push(`${sent.method} ${sent.url}: ${found.problem}`)
      }
    }
  }
  return { requests, byStatus, problems }
}

function build(
  { url, credential, ids }: FuzzOptions,
  method: string,
  path: string,
  operation: Operation,
  random: Random,
) {
  const target = path.replace(/\{\w+\}/g, () => {
    const known = ids()
    const useKnown = known.length > 0 && random() < 0.5
    return encodeURIComponent(toWellFormed(useKnown ? pick(random, known) : hostile(random)))
  })
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query' && random() < 0.5)
    .map(({ name }) => `${name}=${encodeURIComponent(toWellFormed(hostile(random)))}`)
  const content = operation.requestBody?.content ?? {}
  const json = content['application/json']?.schema
  const binary = Object.keys(content).some((type) => type !== 'application/json')
  const headers: Record<string, string> = { ...credential(path, random) }
  if (json || random() < 0.1) headers['content-type'] = 'application/json'
  headers['x-forwarded-for'] = Array.from({ length: 4 }, () => Math.floor(random() * 255)).join('.')
  for (const name of ['x-request-id', 'accept-language', 'accept', 'cookie', 'x-forwarded-host']) {
    if (random() < 0.1 && !(name in headers)) headers[name] = headerValue(random)
  }
  const reads = method !== 'GET' && method !== 'HEAD'
  const schema = json ?? (binary ? undefined : {})
  const body = schema
    ? textOf(bodyFor(schema, random), random)
    : Uint8Array.from({ length: Math.floor(random() * 4_000) }, () => Math.floor(random() * 256))
  const search = query.length > 0 ? `?${query.join('&')}` : ''
  const bodyPart = reads && (random() < 0.95 || json) ? { body } : {}
  return { method, url: url + target + search, headers, ...bodyPart }
}

const hostile = (random: Random) => pick(random, HOSTILE_TEXTS).slice(0, 1_000)
/** Replaces lone surrogates, which a URL cannot hold. */
const toWellFormed = (text: string) => text.toWellFormed()

async function send(
  { url, ...init }: { url: string; method: string; headers: Record<string, string> },
  path: string,
): Promise<{ status: number; problem: string | null }> {
  try {
    const answer = await fetch(url, { ...init, redirect: 'manual' })
    const text = await answer.text()
    return { status: answer.status, problem: problemOf(answer, text, path) }
  } catch (error) {
    return { status: 0, problem: `no answer: ${error instanceof Error ? error.message : error}` }
  }
}

function problemOf({ status, headers }: Response, text: string, path: string): string | null {
  const foreseen = (status === 502 && MAY_502.test(path)) || (status === 503 && MAY_503.test(path))
  if (status >= 500 && !foreseen) return `${status} ${text.slice(0, 200)}`
  if (!headers.get('x-request-id')?.match(/^[\w-]{1,64}$/)) return 'no sound X-Request-Id'
  if (status < 400) return null
  if (isRpcError({ status, headers, text })) return LEAK.test(text) ? `${status} leaks` : null
  const isJson = hasJsonErrors(path)
  const type = isJson ? 'application/json' : 'text/plain; charset=utf-8'
  if (headers.get('content-type') !== type) return `${status} not ${type}`
  if (!isJson && !/^[^\n]{2,160}$/u.test(text))
    return `${status} not one sentence: ${text.slice(0, 200)}`
  if (LEAK.test(text)) return `${status} leaks: ${text.slice(0, 200)}`
  return errorProblem({ status, headers, text })
}
