import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../src/core/crypto.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { MIGRATIONS as POSTGRES_MIGRATIONS } from '../../src/storage/postgres/migrations/index.ts'
import { tempFolder } from '../../test/support/temp.ts'
import { UsageError } from '../usage.ts'

/** To be raised when what is filled into a box changes. */
const CONTENTS = 1
const HOUR_MS = 3_600_000
/** The server prunes what is older than a week, and boxes hold six days. */
const AGE_MAX_MS = 20 * HOUR_MS

/** A folder with filled data. */
export interface Box<Facts> extends Disposable {
  readonly folder: string
  /** What filling it has told. */
  readonly facts: Facts
  /** Epoch milliseconds. */
  readonly filledAt: number
}

/** What `box.json` in the folder says, which is written last. */
interface Label {
  readonly contents: number
  /** A hash of each migration of both databases. */
  readonly tables: readonly string[]
  readonly filledAt: number
  readonly facts: unknown
}

export interface BoxOptions {
  /** The folder of boxes that are kept; null: this one is removed. */
  readonly boxes: string | null
  readonly name: string
  /** Now, in epoch milliseconds. */
  readonly now: number
  /** Those of this version by default. */
  readonly tables?: readonly string[]
}

const MINE = [...MIGRATIONS, ...POSTGRES_MIGRATIONS].map(({ sql }) => sha256Hex(sql))

/**
 * The box of that name: one that was filled before, else one that `fill` fills. A box that was left
 * half filled is filled anew. Throws `UsageError` for one that this version would not fill so.
 */
export async function openBox<Facts>(
  { boxes, name, now, tables = MINE }: BoxOptions,
  fill: (folder: string) => Promise<Facts>,
): Promise<Box<Facts>> {
  if (boxes === null) {
    const { path, [Symbol.dispose]: remove } = tempFolder()
    try {
      return { folder: path, facts: await fill(path), filledAt: now, [Symbol.dispose]: remove }
    } catch (error) {
      remove()
      throw error
    }
  }
  const folder = join(boxes, name)
  const path = join(folder, 'box.json')
  const keep = { folder, [Symbol.dispose]() {} }
  if (existsSync(path)) {
    const label = JSON.parse(readFileSync(path, 'utf8')) as Label
    const fault = faultOf(label, now, tables)
    if (fault) throw new UsageError(`${folder} ${fault}; remove it, and it is filled anew`)
    return { ...keep, facts: label.facts as Facts, filledAt: label.filledAt }
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const facts = await fill(folder)
  const label: Label = { contents: CONTENTS, tables, filledAt: now, facts }
  writeFileSync(path, JSON.stringify(label))
  return { ...keep, facts, filledAt: now }
}

function faultOf(label: Label, now: number, tables: readonly string[]): string | null {
  const isSame = label.tables.join() === tables.join() && label.contents === CONTENTS
  if (!isSame) return 'was filled by another version, with other tables or contents'
  if (now - label.filledAt > AGE_MAX_MS) return 'is older than 20 hours, and its log is pruned'
  return null
}
