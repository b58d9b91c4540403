import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import type { SentFile } from './asked-of.ts'
import type { Attachment } from './drafts.ts'

const MISSING = 404

/** The files of a question that is asked anew, each of which may be taken off; none is deleted. */
export function useSentFiles(files: readonly SentFile[]) {
  const { t } = useI18n()
  const [dropped, setDropped] = useState<readonly number[]>([])
  const gone = useQueries({
    queries: files.map(({ id }) => ({
      queryKey: ['file', id ?? ''],
      queryFn: () => talks.file(id ?? ''),
      enabled: id !== null,
      retry: false,
    })),
    combine: (results) =>
      results.map(({ error }) => error instanceof ApiError && error.status === MISSING),
  })
  const left = files.flatMap((file, key) => (dropped.includes(key) ? [] : [{ ...file, key }]))
  const isThere = ({ id, key }: (typeof left)[number]) => id !== null && !gone[key]
  const list = left.map((one): Attachment => {
    const { id, name, key } = one
    const known = { bytes: 0, state: 'ready', error: null, error_class: null } as const
    if (!isThere(one)) return { key, name, share: 1, file: null, problem: t('studio.file.gone') }
    return { key, name, share: 1, file: { id: id ?? '', name, ...known }, problem: null }
  })
  return {
    list,
    /** Those that the question can be asked with. */
    sound: left.filter(isThere).map(({ id, name }): SentFile => ({ id, name })),
    drop: (key: number) => setDropped([...dropped, key]),
  }
}
