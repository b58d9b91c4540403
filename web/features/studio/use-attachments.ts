import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ApiError } from '../../api/client.ts'
import { type TalkFile, talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useExplain } from '../../lib/services.tsx'
import { failureOf } from '../kb/failure.ts'
import type { SentFile } from './asked-of.ts'
import type { Attachment, ChangeDraft, Draft } from './drafts.ts'

const READING_MS = 1_000
/** Answers that stay what they are. */
const REFUSED = [401, 403, 404]
let next = 1

/** The files beside a question, which are sent at once, and on when its page is left. */
export function useAttachments({ files: list }: Draft, change: ChangeDraft) {
  const explain = useExplain()
  const tell = (key: number, more: Partial<Attachment>) =>
    change(({ files }) => ({
      files: files.map((one) => (one.key === key ? { ...one, ...more } : one)),
    }))
  const send = async (file: File) => {
    const key = next++
    const start = { key, name: file.name, share: 0, file: null, problem: null }
    change(({ files }) => ({ files: [...files, start] }))
    try {
      const sent = await talks.sendFile(file, (share) => tell(key, { share }))
      tell(key, { file: sent, share: 1 })
    } catch (error) {
      tell(key, { problem: explain(error) })
    }
  }
  const shown = useRead(list, explain)
  return {
    list: shown,
    /** Whether some are still on their way to the server. */
    isSending: shown.some(({ file, problem }) => file === null && problem === null),
    add: (files: readonly File[]) => files.forEach((file) => void send(file)),
    /** Files of a question that is written anew; the server has them. */
    restore(sent: readonly SentFile[]) {
      const back = sent.map(({ id, name }) => {
        const known = { bytes: 0, state: 'ready', error: null, error_class: null } as const
        return {
          key: next++,
          name,
          share: 1,
          file: { id: id ?? '', name, ...known },
          problem: null,
        }
      })
      change(({ files }) => ({ files: [...files, ...back] }))
    },
    drop(key: number) {
      const id = list.find((one) => one.key === key)?.file?.id
      change(({ files }) => ({ files: files.filter((one) => one.key !== key) }))
      if (id !== undefined) void talks.dropFile(id).catch(() => {})
    },
  }
}

interface Asked {
  readonly state: { readonly data?: TalkFile | undefined; readonly error: Error | null }
}

const isRefusal = (error: Error | null) =>
  error instanceof ApiError && REFUSED.includes(error.status)

/** The files, with what the server says of those that it is still reading. */
function useRead(
  list: readonly Attachment[],
  explain: ReturnType<typeof useExplain>,
): readonly Attachment[] {
  const { t } = useI18n()
  const reading = list.flatMap(({ file }) => (file?.state === 'reading' ? [file.id] : []))
  const known = useQueries({
    queries: reading.map((id) => ({
      queryKey: ['file', id],
      queryFn: () => talks.file(id),
      retry: false,
      refetchInterval: ({ state: { data, error } }: Asked) =>
        (data === undefined || data.state === 'reading') && !isRefusal(error) ? READING_MS : false,
    })),
    combine: (results) =>
      results.map(({ data = null, error }, at) => ({ id: reading[at], file: data, error })),
  })
  return useMemo(
    () =>
      list.map((one) => {
        const told = known.find(({ id }) => id === one.file?.id)
        const file = told?.file ?? one.file
        const failed = file?.state === 'failed' ? failureOf(file, t) : null
        const refused = told && isRefusal(told.error) ? explain(told.error) : null
        return { ...one, file, problem: one.problem ?? failed ?? refused }
      }),
    [list, known, t, explain],
  )
}
