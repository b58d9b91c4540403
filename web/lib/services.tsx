import { MutationCache, QueryCache, QueryClient, useMutation } from '@tanstack/react-query'
import { createContext, useContext, useId, useRef } from 'react'
import { ApiError } from '../api/client.ts'
import { type Key, useI18n } from '../i18n/index.tsx'
import { reload } from './reload.ts'
import type { Toasts } from './toasts.ts'

export const ToastsContext = createContext<Toasts | null>(null)

export function useToasts(): Toasts {
  const toasts = useContext(ToastsContext)
  if (!toasts) throw new Error('useToasts outside its provider')
  return toasts
}

export const SIGNED_OUT = 401
const MISSING = 404
const STALE_MS = 10_000

/** The query client of the console: reports failures, and asks to sign in after a 401. */
export function createQueries(tell: (error: Error) => void, onSignedOut: () => void): QueryClient {
  const failed = (error: Error) => {
    if (error instanceof ApiError && error.status === SIGNED_OUT) onSignedOut()
    else tell(error)
  }
  return new QueryClient({
    defaultOptions: {
      // The server may be on this machine or network, so the browser's offline state does not tell
      // whether it is reachable.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: STALE_MS,
        retry: (count, error) => count < 2 && error instanceof ApiError && error.status === 0,
      },
    },
    queryCache: new QueryCache({
      // A page without data shows the error itself. A failed refresh needs a message, unless the
      // banner says that the server is unreachable.
      onError: (error, query) => {
        const status = error instanceof ApiError ? error.status : undefined
        if (status === SIGNED_OUT) failed(error)
        else if (query.state.data !== undefined && status !== 0) failed(error)
      },
    }),
    mutationCache: new MutationCache({
      onError: (error, _input, _context, mutation) => {
        const shows = mutation.meta?.shows as ActionOptions<unknown, unknown>['shows']
        if (!shows?.(error)) failed(error)
      },
    }),
  })
}

interface ActionOptions<Input, Output> {
  /** The message after success. */
  readonly done?: Key
  /** Lists to load again. */
  readonly refresh?: readonly string[]
  readonly onDone?: (output: Output, input: Input) => void
  /** Called where somebody else has deleted it meanwhile; the lists are loaded again then, too. */
  readonly onGone?: () => void
  /** Which errors the page shows at a field; by default none, and all become toasts. */
  readonly shows?: (error: Error) => boolean
  /** For the rows of a list: a call with another input waits for the open one. */
  readonly several?: boolean
}

/**
 * A call that changes data: shows its result and reloads the affected lists. Ignores a second click
 * while the first call is open.
 */
export function useAction<Input, Output>(
  run: (input: Input) => Promise<Output>,
  { done, refresh = [], onDone, onGone, shows, several = false }: ActionOptions<Input, Output> = {},
) {
  const { t } = useI18n()
  const toasts = useToasts()
  const id = useId()
  const open = useRef(new Set<string>())
  const nameOf = (input: Input) => (several ? JSON.stringify(input) : '')
  const loadAnew = (client: QueryClient) => Promise.all(refresh.map((key) => reload(client, [key])))
  const mutation = useMutation({
    mutationFn: run,
    ...(several ? { scope: { id } } : {}),
    meta: { shows },
    onSuccess: async (output, input, _context, { client }) => {
      onDone?.(output, input)
      if (done) toasts.show('good', t(done))
      await loadAnew(client)
    },
    onError: async (error, _input, _result, { client }) => {
      if (!(error instanceof ApiError && error.status === MISSING)) return
      onGone?.()
      await loadAnew(client)
    },
    onSettled: (_output, _error, input) => void open.current.delete(nameOf(input)),
  })
  const mutate = (input: Input) => {
    const name = nameOf(input)
    if (open.current.has(name)) return
    open.current.add(name)
    mutation.mutate(input)
  }
  return { ...mutation, mutate }
}

/** The sentence at a field for an error whose code begins with one of these. */
export function useProblem(...codes: readonly string[]) {
  const explain = useExplain()
  const isAbout = (error: Error | null): error is ApiError =>
    error instanceof ApiError && codes.some((code) => error.error?.code.startsWith(code))
  return {
    shows: isAbout,
    of: (error: Error | null) => (isAbout(error) ? explain(error) : null),
  }
}

const HAN = /\p{Script=Han}/u

/**
 * The sentence for an error: the server's Chinese sentence, its translation, or the meaning of its
 * status followed by the server's sentence.
 */
export function useExplain() {
  const { t, language, words } = useI18n()
  return (error: unknown): string => {
    if (!(error instanceof ApiError)) return t('error.unexpected')
    const { status, message, error: name } = error
    if (status === 0) return t('error.offline')
    const meaning = t(MEANINGS[status] ?? 'error.status', { status })
    if (message === '') return meaning
    const foreign = language !== 'zh' && HAN.test(message)
    return foreign ? (words(message, name) ?? `${meaning} (${message})`) : message
  }
}

const MEANINGS: Readonly<Record<number, Key>> = {
  400: 'error.invalid',
  401: 'error.unauthorized',
  403: 'error.forbidden',
  404: 'error.missing',
  413: 'error.large',
  429: 'error.limited',
  500: 'error.internal',
  502: 'error.upstream',
  503: 'error.unavailable',
}
