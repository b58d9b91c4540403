import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { Source } from '../../api/types.ts'
import type { Key } from '../../i18n/index.tsx'
import { type Item, itemsOf, LIBRARY, type Library, showSource, titleOf } from './library.ts'
import { noteReplacement } from './replacing.ts'

export interface Upload {
  readonly id: number
  readonly file: File
  /**
   * `asked`: an item with this title exists, the person decides; `sent`: the server has the file.
   */
  readonly state: 'asked' | 'waiting' | 'sending' | 'sent' | 'failed'
  /** How much has been sent, from 0 to 1. */
  readonly share: number
  readonly problem: Key | Error | null
  /** The existing item with the same title. */
  readonly twin: Item | null
  /** The item that is deleted once the new source is ready. */
  readonly replaces: Item | null
  /** The failed source that is deleted once the new file is sent. */
  readonly instead: string | null
  readonly sourceId: string | null
}

/** Kept in the query client, so that uploads continue while another page is open. */
const UPLOADS = ['uploads']
const AGAIN_MS = 10_000

const read = (client: QueryClient) => client.getQueryData<readonly Upload[]>(UPLOADS) ?? []
const write = (client: QueryClient, uploads: readonly Upload[]) =>
  client.setQueryData(UPLOADS, uploads)

function change(client: QueryClient, id: number, more: Partial<Upload>): void {
  const changed = read(client).map((upload) => (upload.id === id ? { ...upload, ...more } : upload))
  write(client, changed)
}

const warn = (event: Event) => event.preventDefault()

/** Sends one file after another, so that the server reads the first while the next is sent. */
async function sendNext(client: QueryClient): Promise<void> {
  const uploads = read(client)
  const next = uploads.find(({ state }) => state === 'waiting')
  if (!next || uploads.some(({ state }) => state === 'sending')) return
  change(client, next.id, { state: 'sending', share: 0 })
  addEventListener('beforeunload', warn)
  try {
    const source = await api.sources.sendFile(next.file, (share) =>
      change(client, next.id, { share }),
    )
    await onSent(client, next, source)
  } catch (error) {
    const isFull = error instanceof ApiError && error.error?.code === 'too_many_waiting'
    change(client, next.id, isFull ? { state: 'waiting' } : failed(error))
    if (isFull) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  } finally {
    removeEventListener('beforeunload', warn)
  }
  await sendNext(client)
}

const failed = (error: unknown) => ({ state: 'failed' as const, problem: error as Error })

async function onSent(client: QueryClient, upload: Upload, source: Source): Promise<void> {
  change(client, upload.id, { state: 'sent', sourceId: source.id })
  if (upload.replaces) noteReplacement(source.id, upload.replaces)
  if (upload.instead !== null) await api.sources.remove(upload.instead).catch(() => {})
  showSource(client, source)
}

/** The title that the server gives a file. */
const titleOfFile = (name: string) =>
  [...name.replace(/(?<=.)\.[^.]*$/s, '').replace(/\s+/g, ' ')].slice(0, 180).join('').trim()

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

export interface AddOptions {
  readonly replaces?: Item | null
  readonly instead?: string | null
}

/** The uploads of this tab, and what can be done with them. */
export function useUploads() {
  const client = useQueryClient()
  const { data: uploads = [] } = useQuery<readonly Upload[]>({
    queryKey: UPLOADS,
    queryFn: skipToken,
    initialData: () => read(client),
    staleTime: Infinity,
    gcTime: Infinity,
  })

  function uploadOf(file: File, id: number, options: AddOptions): Upload {
    const { replaces = null } = options
    const library = client.getQueryData<Library>(LIBRARY)
    const instead = options.instead ?? failedOf(library, file)?.id ?? null
    const problem = library ? problemOf(file, library.limits.file_mb_max) : null
    const isMeant = replaces !== null || options.instead != null
    const twin = library && !isMeant ? findTwin(itemsOf(library), file) : null
    const state = problem ? 'failed' : twin ? 'asked' : 'waiting'
    const more = { problem, twin, replaces, instead, sourceId: null }
    return { id, file, state, share: 0, ...more }
  }

  const start = () => void sendNext(client)

  return {
    uploads: uploads.filter(({ state }) => state !== 'sent'),
    add(files: readonly File[], options: AddOptions = {}): void {
      const before = read(client)
      const first = (before.at(-1)?.id ?? 0) + 1
      write(client, [...before, ...files.map((file, i) => uploadOf(file, first + i, options))])
      start()
    },
    /** Sends a file although it has a twin, or again after a failure. */
    go(upload: Upload, more: Partial<Upload> = {}): void {
      change(client, upload.id, { ...more, state: 'waiting', problem: null })
      start()
    },
    drop: ({ id }: Upload): void =>
      void write(
        client,
        read(client).filter((upload) => upload.id !== id),
      ),
    /** The file of a source, if it was uploaded in this tab. */
    fileOf: (source: Source): File | null =>
      uploads.find(({ sourceId }) => sourceId === source.id)?.file ?? null,
  }
}

export type Uploads = ReturnType<typeof useUploads>

function problemOf({ size }: File, megabytesMax: number): Key | null {
  if (size === 0) return 'kb.upload.empty'
  return size > megabytesMax * 1024 * 1024 ? 'kb.upload.large' : null
}

/** The failed source with the name of the file. */
const failedOf = (library: Library | undefined, { name }: File): Source | undefined =>
  library?.sources.find(
    ({ state, kind, title }) =>
      state === 'failed' && kind === 'file' && isSame(title, titleOfFile(name)),
  )

/** The item with the title that the file will get, except failed sources. */
function findTwin(items: readonly Item[], file: File): Item | null {
  const title = titleOfFile(file.name)
  const isThere = (item: Item) => item.kind === 'doc' || item.source.state !== 'failed'
  return items.find((item) => isThere(item) && isSame(titleOf(item), title)) ?? null
}

/** Whether the twin has the size of the file, too. */
export const isSameFile = ({ file, twin }: Upload): boolean =>
  twin?.kind === 'source' && twin.source.bytes === file.size
