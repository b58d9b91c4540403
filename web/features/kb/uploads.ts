import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import { libraryApi } from '../../api/library.ts'
import type { KbLimits, Source } from '../../api/types.ts'
import type { Key } from '../../i18n/index.tsx'
import { reload } from '../../lib/reload.ts'
import { collectionOf } from './collections.ts'
import { chosenOf, type Item, itemsOf, PAGE_SIZE } from './library.ts'
import { noteReplacement, type Replaced } from './replacing.ts'

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
  readonly replaces: Replaced | null
  /** The failed source that is deleted once the new file is sent. */
  readonly instead: string | null
  /** The collection that it goes into; null: none. */
  readonly collection: string | null
  /** Whether a person has said what becomes of an item with this title. */
  readonly isMeant: boolean
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
    const known = next.isMeant ? null : await lookUp(next)
    if (known?.twin) change(client, next.id, { state: 'asked', twin: known.twin })
    else {
      const { file, collection } = next
      const source = await api.sources.sendFile(file, collection, (share) =>
        change(client, next.id, { share }),
      )
      await onSent(client, { ...next, instead: next.instead ?? known?.failed ?? null }, source)
    }
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
  void reload(client, ['kb'])
}

/** What has the title that the file will get: a failed source, and an item that is none. */
async function lookUp({ file }: Upload) {
  const query = { title: titleOfFile(file.name), limit: String(PAGE_SIZE) }
  const items = itemsOf(await libraryApi.page(query))
  const isFailed = (item: Item) => item.kind === 'source' && item.source.state === 'failed'
  const failed = items.find((item) => isFailed(item) && chosenOf(item).kind === 'source')
  return {
    twin: items.find((item) => !isFailed(item)) ?? null,
    failed: failed?.kind === 'source' && failed.source.kind === 'file' ? failed.source.id : null,
  }
}

/** The title that the server gives a file. */
const titleOfFile = (name: string) =>
  [...name.replace(/(?<=.)\.[^.]*$/s, '').replace(/\s+/g, ' ')].slice(0, 180).join('').trim()

export interface AddOptions {
  readonly replaces?: Replaced | null
  readonly instead?: string | null
  readonly collection?: string | null
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
    const { replaces = null, instead = null, collection = null } = options
    const limits = client.getQueryData<KbLimits>(['kb', 'limits'])
    const problem = limits ? problemOf(file, limits.file_mb_max) : null
    const isMeant = replaces !== null || instead !== null
    const state = problem ? 'failed' : 'waiting'
    const more = { problem, twin: null, replaces, instead, collection, isMeant, sourceId: null }
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
      change(client, upload.id, { isMeant: true, ...more, state: 'waiting', problem: null })
      start()
    },
    drop: ({ id }: Upload): void =>
      void write(
        client,
        read(client).filter((upload) => upload.id !== id),
      ),
    /** The file of a source, if it was uploaded in this tab. */
    fileOf: (id: string): File | null =>
      uploads.find(({ sourceId }) => sourceId === id)?.file ?? null,
  }
}

export type Uploads = ReturnType<typeof useUploads>

function problemOf({ size }: File, megabytesMax: number): Key | null {
  if (size === 0) return 'kb.upload.empty'
  return size > megabytesMax * 1024 * 1024 ? 'kb.upload.large' : null
}

/** What a file that replaces an item is sent with: it goes where that item is. */
export const inPlaceOf = (item: Item): AddOptions => {
  const { kind, id } = chosenOf(item)
  return { replaces: { kind, id }, collection: collectionOf(item) }
}

/** Whether the twin has the size of the file, too. */
export const isSameFile = ({ file, twin }: Upload): boolean =>
  twin?.kind === 'source' && twin.source.bytes === file.size
