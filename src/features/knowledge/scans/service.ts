import type { Clock } from '../../../core/clock.ts'
import { SCAN_SIDE_MAX, SCAN_TURN_MS, SCANS_AT_ONCE } from '../../../core/limits/scans.ts'
import { createSemaphore } from '../../../core/semaphore.ts'
import { type Leases, leaseName } from '../../../storage/shared-state.ts'
import {
  type FileBytes,
  ParseFailure,
  type Parser,
  type ScannedPages,
} from '../../../upstream/ports/parser.ts'
import { failureOfParser } from '../sources/failure.ts'
import type { SourceKey, SourceRow } from '../sources/row.ts'
import { uploaderOf } from '../sources/row.ts'
import type { ReadPage } from './page-reader.ts'
import type { ScanStore } from './store.ts'

export interface ScansParts {
  readonly store: ScanStore
  readonly parser: Parser
  readonly spool: { file(id: string): FileBytes }
  readonly readPage: ReadPage
  readonly leases: Pick<Leases, 'hold'>
  readonly clock: Pick<Clock, 'sleep'>
  /** Whether the tenant has its scans read, and has a model that could. */
  readonly isOn: (tenantId: string) => Promise<boolean>
  /** Whether the tenant has its scans read. */
  readonly isWanted: (tenantId: string) => Promise<boolean>
  /** Pages of one file that are read. */
  readonly pagesMax: () => number
}

/** The scanned pages of a file, and how many pages it has. */
export interface FileScans extends ScannedPages {
  readonly all: number
}

/** What is known of the scanned pages of a file. */
export interface ScanTexts {
  readonly texts: ReadonlyMap<number, string>
  /** Pages that stay unread. */
  readonly unread: number
}

/** Has the scanned pages of files read by the tenants' models. */
export function createScans(parts: ScansParts) {
  const { store, parser, spool, readPage, leases, clock, isOn, isWanted, pagesMax } = parts
  const slots = createSemaphore({ perKey: SCANS_AT_ONCE })
  const wanted = ({ pages }: ScannedPages) => pages.slice(0, pagesMax())

  /**
   * Does `work` in one of the tenant's slots, which all servers share: its model is asked for no
   * more pages at once, however many servers read its files. Tenants do not wait for each other.
   */
  async function inTurn(
    tenantId: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    for (;;) {
      for (let slot = 0; slot < SCANS_AT_ONCE; slot++) {
        if (await leases.hold(leaseName.scan(tenantId, slot), signal, work)) return
      }
      await clock.sleep(SCAN_TURN_MS, signal)
    }
  }

  async function draw({ tenant_id, id }: SourceKey, page: number, signal: AbortSignal) {
    const options = { page, sideMax: SCAN_SIDE_MAX }
    const task = { name: 'drawing', bytes: spool.file(id), options, tenantId: tenant_id } as const
    try {
      for await (const image of parser.parse(task, signal)) return image
    } catch (error) {
      throw error instanceof ParseFailure ? failureOfParser(error) : error
    }
    throw failureOfParser(new ParseFailure('unreadable'))
  }

  return {
    isOn,
    isWanted,
    forget: store.forget,

    /** Null while there are pages to be read. */
    async known(key: SourceKey, scans: ScannedPages): Promise<ScanTexts | null> {
      const texts = await store.texts(key, scans.fileHash)
      const due = wanted(scans).filter((page) => !texts.has(page))
      return due.length > 0 ? null : { texts, unread: scans.pages.length - texts.size }
    },

    /**
     * Reads the pages that are not read yet. What was read is kept when it throws: `SourceFailure`,
     * `PageUnread`, or the signal's reason.
     */
    async read(source: SourceRow, scans: FileScans, signal: AbortSignal): Promise<void> {
      const known = await store.texts(source, scans.fileHash)
      const due = wanted(scans).filter((page) => !known.has(page))
      const done = scans.all - scans.pages.length + known.size
      await store.begin(source, { all: scans.all, done, scanned: known.size })

      const readOne = (page: number, isFirst: boolean) =>
        slots.run(
          source.tenant_id,
          () =>
            inTurn(source.tenant_id, signal, async (held) => {
              const image = await draw(source, page, held)
              const text = await readPage(uploaderOf(source), image, isFirst, held)
              if (!(await store.add(source, scans.fileHash, page, text))) throw new Error(DELETED)
            }),
          signal,
        )

      // A model that cannot see pictures is asked once.
      const [first] = due
      if (known.size === 0 && first !== undefined) await readOne(first, true)
      const rest = known.size === 0 ? due.slice(1) : due
      await side(SCANS_AT_ONCE, rest, (page) => readOne(page, false))
    },
  }
}

export type Scans = ReturnType<typeof createScans>

const DELETED = 'the source was deleted'

/**
 * Does `work` on all items, `count` at a time. After a failure no item is begun, and those that
 * were are waited for: they are paid already.
 */
async function side<Item>(
  count: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const failures: unknown[] = []
  const next = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await work(item)
      } catch (error) {
        failures.push(error)
        waiting.length = 0
      }
    }
  }
  await Promise.all(Array.from({ length: count }, next))
  if (failures.length > 0) throw failures[0]
}
