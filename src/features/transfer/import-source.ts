import { NO_COLLECTION } from '../../storage/collections.ts'
import type { Archive } from '../knowledge/index/archive.ts'
import type { Arriving, SourceArchive } from '../knowledge/sources/archive.ts'
import type { CarriedSource } from '../knowledge/sources/archive-store.ts'
import { type CarriedDocument, carriedDoc } from './document.ts'
import type { Mode, Report } from './plan.ts'

export interface SourceIntakeParts {
  readonly docs: Pick<Archive, 'add'>
  readonly sources: Pick<SourceArchive, 'begin' | 'publish' | 'discard' | 'addUnread'>
  readonly names: Names
  readonly report: Report
  readonly tenantId: string
  readonly mode: Mode
  /** ISO 8601. */
  readonly now: string
  /** The id of a collection by its name; null where there is none. */
  readonly collectionOf: (name: string | null) => Promise<string | null>
}

/** A source whose documents are being imported. */
interface Open {
  /** Its id in the file. */
  readonly ref: string
  readonly label: string
  /** Null when none of its documents is imported. */
  arriving: Arriving | null
  readonly replaces: string | null
  count: number
}

type FileSource = NonNullable<CarriedDocument['source']>

/** The name that identifies a source: the address of a page, the title of a file. */
export const nameOf = ({ kind, url, title }: Pick<FileSource, 'kind' | 'url' | 'title'>): string =>
  `${kind} ${url ?? title}`

/**
 * Imports the documents of sources, which are consecutive in a file, and shows those of one source
 * together once the next source begins.
 */
export function createSourceIntake(parts: SourceIntakeParts) {
  const { docs, sources, names, report, tenantId, mode, now, collectionOf } = parts
  let open: Open | null = null
  let imported = 0

  async function begin(ref: string, doc: CarriedDocument | null): Promise<Open> {
    const source = doc?.source ?? null
    const label = source ? `来源「${source.title}」` : '来源'
    const refused = { ref, label, arriving: null, replaces: null, count: 0 }
    if (source === null) return refused
    const replaces = names.next(nameOf(source))
    if (replaces !== null && mode === 'skip') {
      report.skipKnown(label)
      return refused
    }
    const begun: Open = { ...refused, replaces }
    await report.attempt(label, async () => {
      begun.arriving = await sources.begin(tenantId, {
        ...storedSource(source, now),
        collection_id: (await collectionOf(doc?.collection ?? null)) ?? NO_COLLECTION,
      })
    })
    return begun
  }

  async function giveUp(source: Open): Promise<void> {
    if (source.arriving && source.count > 0) await sources.discard(source.arriving.id)
    source.arriving = null
  }

  async function take(source: Open, doc: CarriedDocument): Promise<void> {
    const { arriving, label } = source
    if (arriving === null) return
    const isUnread = doc.chunks.length === 0 && !doc.text
    if (isUnread && source.replaces !== null) {
      report.skipKnown(label)
      return giveUp(source)
    }
    const isTaken = await report.attempt(label, async () => {
      if (isUnread) await sources.addUnread(tenantId, arriving)
      else await docs.add(tenantId, carriedDoc(doc, now), { sourceId: arriving.id })
    })
    if (isTaken && !isUnread) source.count++
    else await giveUp(source)
  }

  /** Ends the open source. `isWhole`: the file was not truncated within it. */
  async function close(isWhole: boolean): Promise<void> {
    const source = open
    open = null
    if (!source?.arriving) return
    const { arriving, label, replaces, count } = source
    if (!isWhole) report.fail(`${label}不完整，未导入`)
    const publish = () => sources.publish(tenantId, arriving, count, replaces)
    if (!isWhole || !(await report.attempt(label, publish))) return giveUp(source)
    imported += count
    if (arriving.isRefreshEnded) report.skip(`${label}的自动更新数已达上限，不再自动更新`)
  }

  return {
    /** Adds a document of the source `ref`; null, an invalid document, refuses the whole source. */
    async add(ref: string, doc: CarriedDocument | null): Promise<void> {
      if (open?.ref !== ref) {
        await close(true)
        open = await begin(ref, doc)
      }
      if (doc) await take(open, doc)
      else await giveUp(open)
    },
    close,
    /** Whether `close` may write something. */
    isOpen: () => (open?.arriving ?? null) !== null,
    /** Documents that are shown. */
    imported: () => imported,
  }
}

const storedSource = (source: FileSource, now: string): Omit<CarriedSource, 'collection_id'> => {
  const { id: _, named, gone, created_at = now, ...rest } = source
  return { ...rest, created_at, is_named: named ? 1 : 0, state: gone ? 'gone' : 'ready' }
}

/** An existing item of the tenant, in a list with the oldest first. */
export interface Named {
  readonly id: string
  readonly name: string
}

/**
 * Matches names that may occur several times: the n-th item of a name in a file corresponds to the
 * n-th of that name in the tenant.
 */
export function createNames(existing: readonly Named[]) {
  const ids = new Map<string, string[]>()
  for (const { id, name } of existing) {
    const known = ids.get(name)
    if (known) known.push(id)
    else ids.set(name, [id])
  }
  for (const known of ids.values()) known.reverse()
  return {
    /**
     * The id of the item that the next one of this name corresponds to; null when there is none.
     */
    next: (name: string): string | null => ids.get(name)?.pop() ?? null,
  }
}

export type Names = ReturnType<typeof createNames>
