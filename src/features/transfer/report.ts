import { AppError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Notes } from './plan.ts'

/** Sentences of a report about documents, of each kind; the others are counted. */
const LINES_MAX = 1_000

/** What became of the documents of an import, in a bounded number of sentences. */
export function createReport(notes: Notes, log: Logger) {
  const unlisted = { skipped: 0, errors: 0 }

  function add(kind: 'skipped' | 'errors', line: string): void {
    if (notes[kind].length < LINES_MAX) notes[kind].push(line)
    else unlisted[kind]++
  }

  return {
    skip: (line: string) => add('skipped', line),
    /** It is there already, and the import leaves it as it is. */
    skipKnown: (label: string) => add('skipped', `${label}已存在，已跳过`),
    fail: (line: string) => add('errors', line),

    /** True when `work` was done; a quota is noted as skipped, anything else as an error. */
    async attempt(label: string, work: () => Promise<void>): Promise<boolean> {
      try {
        await work()
        return true
      } catch (error) {
        if (error instanceof AppError) {
          const kind = error.errorClass === 'forbidden' ? 'skipped' : 'errors'
          add(kind, `${label}未导入：${error.message}`)
        } else {
          log.error('import failed', errorFields(error))
          add('errors', `${label}写入失败`)
        }
        return false
      }
    },

    end(): void {
      for (const kind of ['skipped', 'errors'] as const) {
        if (unlisted[kind] > 0) notes[kind].push(`另有 ${unlisted[kind]} 条未列出`)
      }
    },
  }
}

export type Report = ReturnType<typeof createReport>
