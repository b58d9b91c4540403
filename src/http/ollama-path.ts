import { pathOf } from './openai-answers.ts'

/** Set on a request that came through Ollama's door: whether it needs no key. */
const DOOR = Symbol('ollama')

/** The paths of OpenAI's and Anthropic's APIs that are answered below `/ollama`, too. */
const BELOW = new RegExp(
  `^/ollama(/v1/(?:${[
    ...['models(?:/[^/]+)?', 'chat/completions', 'responses', 'messages(?:/count_tokens)?'],
    ...['embeddings', 'audio/speech', 'audio/transcriptions'],
  ].join('|')}))/?$`,
)
const LATEST = /(?::|%3a)latest$/i

/** Whether this is a path of Ollama's API. */
export const isOllamaPath = (path: string): boolean => /^\/ollama(?:\/|$)/.test(path)

/** The value of a `model` without the tag that clients of Ollama add to names. */
export const withoutLatest = (name: string): string => name.replace(/:latest$/, '')

/** Whether the request came through Ollama's door, by its path or its port. */
export const isThroughOllama = (request: Request): boolean => DOOR in request

/** Whether the request is one of another API, which Ollama's door offers, too. */
export const isOfferedBelow = (request: Request): boolean =>
  isThroughOllama(request) && !isOllamaPath(pathOf(request.url))

/** Whether the request came by the port that needs no key. */
export const isKeyless = (request: Request): boolean =>
  (request as { readonly [DOOR]?: unknown })[DOOR] === 'keyless'

/** The request with its door noted; below `/ollama/v1` it goes on as one for `/v1`. */
export function throughOllama(request: Request, isKeyless = false): Request {
  const { url } = request
  const start = url.indexOf('/', 8)
  if (isKeyless) mark(request, `${url.slice(0, start)}/ollama${url.slice(start)}`, 'keyless')
  else if (!url.startsWith('/ollama', start)) return request
  return belowOllama(request)
}

function belowOllama(request: Request): Request {
  const { url } = request
  const path = pathOf(url)
  if (!isOllamaPath(path)) return request
  const inner = BELOW.exec(path)?.[1]?.replace(LATEST, '') ?? path
  const start = url.indexOf('/', 8)
  const to = url.slice(0, start) + inner + url.slice(start + path.length)
  return isThroughOllama(request) ? moved(request, to) : mark(request, to, 'path')
}

const mark = (request: Request, url: string, door: 'keyless' | 'path'): Request =>
  Object.defineProperty(moved(request, url), DOOR, { value: door })

/** The request object stays the one that the server knows. */
const moved = (request: Request, url: string): Request =>
  Object.defineProperty(request, 'url', { value: url, configurable: true })
