import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { IMPORT_REFUSED_MAX } from '../../core/limits/machine.ts'
import type { Logger } from '../../core/log.ts'
import type { CollectionService } from '../knowledge/collections/service.ts'
import type { Archive } from '../knowledge/index/archive.ts'
import type { SourceArchive } from '../knowledge/sources/archive.ts'
import { CarriedDocument, carriedDoc } from './document.ts'
import { createNames, createSourceIntake, nameOf } from './import-source.ts'
import { createReport, type Mode, type Notes } from './plan.ts'

export interface ImportDocumentsParts {
  readonly collections: Pick<CollectionService, 'all'>
  readonly docs: Pick<Archive, 'heads' | 'add'>
  readonly sources: Pick<SourceArchive, 'known' | 'begin' | 'publish' | 'discard' | 'addUnread'>
  readonly clock: Pick<Clock, 'iso'>
  readonly log: Logger
}

/** How the documents of a file ended. */
export type Ending = 'whole' | 'broken' | 'refused'

interface Run {
  readonly tenantId: string
  readonly mode: Mode
  readonly notes: Notes
  /** Called before something is written. */
  readonly onWrite: () => Promise<void>
}

/**
 * Imports the documents of a file one by one. A typed document is on disk when `add` resolves,
 * those of a source once the next source begins. Sending a truncated file again completes the
 * import, also when a name occurs several times (`createNames`).
 */
export async function beginDocuments(parts: ImportDocumentsParts, run: Run) {
  const { docs, sources, collections, clock, log } = parts
  const { tenantId, mode, notes, onWrite } = run
  const report = createReport(notes, log)
  const now = clock.iso()
  const typed = (await docs.heads(tenantId)).filter(({ source_id }) => source_id === null)
  const known = (await sources.known(tenantId)).map((one) => ({ id: one.id, name: nameOf(one) }))
  const titles = createNames(typed.map(({ id, title }) => ({ id, name: title })))
  let ids: ReadonlyMap<string, string> | null = null

  /** Looked up with the first document: the collections of the file are imported by then. */
  async function collectionOf(name: string | null): Promise<string | null> {
    if (name === null) return null
    ids ??= new Map((await collections.all(tenantId)).map((one) => [one.name, one.id]))
    return ids.get(name) ?? null
  }

  const shared = { docs, sources, report, tenantId, mode, now, collectionOf }
  const ofSources = createSourceIntake({ ...shared, names: createNames(known) })
  let seen = 0
  let refused = 0
  let imported = 0

  async function addTyped(doc: CarriedDocument): Promise<void> {
    const label = `文档「${doc.title}」`
    const replaces = titles.next(doc.title)
    if (replaces !== null && mode === 'skip') return report.skipKnown(label)
    const collectionId = await collectionOf(doc.collection)
    const replaced = replaces === null ? {} : { replaces }
    const destination = { sourceId: null, collectionId, ...replaced }
    const add = () => docs.add(tenantId, carriedDoc(doc, now), destination)
    if (await report.attempt(label, add)) imported++
  }

  function read(raw: unknown): CarriedDocument | null {
    try {
      return checked(CarriedDocument, raw)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      refused++
      report.fail(`第 ${seen} 个文档：${error.message}`)
      return null
    }
  }

  return {
    /** Imports a document; a failure becomes a sentence of the report. */
    async add(raw: unknown): Promise<void> {
      seen++
      const doc = read(raw)
      const ref = refOf(raw)
      if (doc !== null || ofSources.isOpen()) await onWrite()
      if (ref !== null) return ofSources.add(ref, doc)
      await ofSources.close(true)
      if (doc) await addTyped(doc)
    },

    /** Whether so many documents were refused that the rest of the file is not read. */
    isHopeless: () => refused >= IMPORT_REFUSED_MAX,

    /** Ends the report. */
    async end(ending: Ending): Promise<void> {
      await ofSources.close(ending === 'whole')
      if (ending === 'broken') {
        report.fail(`文件在第 ${seen} 个文档之后中断或损坏，其后的内容未导入`)
      }
      report.end()
      // Beyond the sentences of the report, which is full of the refused ones.
      if (ending === 'refused') notes.errors.push(hopeless(seen, refused))
    },

    /** Documents that are stored and shown. */
    imported: () => imported + ofSources.imported(),
  }
}

const hopeless = (seen: number, refused: number) =>
  `已有 ${refused} 个文档不符合格式，导入在第 ${seen} 个文档处停止，其后的内容未导入；请检查文件后重新导入`

/** The source that a document names, even one that is not valid otherwise. */
function refOf(raw: unknown): string | null {
  const { source } = (raw ?? {}) as { source?: { id?: unknown } | null }
  return typeof source?.id === 'string' ? source.id : null
}
