import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { KB_DOC_BYTES_MAX, KB_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useExplain } from '../../lib/services.tsx'

export interface Upload {
  readonly id: number
  readonly file: File
  readonly state: 'waiting' | 'sending' | 'done' | 'failed'
  /** Chunks when done; the reason when failed. */
  readonly note: string
}

/** The reason not to send a file; null for a valid file. */
export function problemOf(name: string, bytes: number): Key | null {
  if (!/\.(txt|md|markdown)$/i.test(name)) return 'kb.upload.kind'
  if (bytes === 0) return 'kb.upload.empty'
  return bytes > KB_DOC_BYTES_MAX ? 'kb.upload.large' : null
}

const titleOf = (name: string): string =>
  [...name.replace(/\.(txt|md|markdown)$/i, '')].slice(0, KB_TITLE_CHARS_MAX).join('')

/** A byte order mark decides; without one, text that is not UTF-8 is GBK, as on Chinese Windows. */
export function textOf(bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes)
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('gb18030').decode(bytes)
  }
}

/** Uploads files one after the other, because each answer waits for the embedding. */
export function useUploads() {
  const { t } = useI18n()
  const explain = useExplain()
  const client = useQueryClient()
  const [uploads, setUploads] = useState<readonly Upload[]>([])
  const next = useRef(1)
  const tail = useRef(Promise.resolve())
  const set = (id: number, more: Partial<Upload>) =>
    setUploads((list) => list.map((item) => (item.id === id ? { ...item, ...more } : item)))

  async function send({ id, file }: Upload): Promise<void> {
    set(id, { state: 'sending', note: '' })
    try {
      const doc = await api.kb.create(titleOf(file.name), textOf(await file.arrayBuffer()))
      set(id, { state: 'done', note: t('kb.upload.done', { count: doc.chunk_count }) })
      await client.invalidateQueries({ queryKey: ['kb'] })
    } catch (error) {
      set(id, { state: 'failed', note: explain(error) })
    }
  }

  const queue = (upload: Upload) => {
    tail.current = tail.current.then(() => send(upload))
  }

  return {
    uploads,
    add(files: readonly File[]): void {
      const added = files.map((file): Upload => {
        const problem = problemOf(file.name, file.size)
        const state = problem ? 'failed' : 'waiting'
        return { id: next.current++, file, state, note: problem ? t(problem) : '' }
      })
      setUploads((list) => [...added, ...list])
      for (const upload of added) if (upload.state === 'waiting') queue(upload)
    },
    retry: queue,
    clear: () =>
      setUploads((list) => list.filter(({ state }) => state === 'waiting' || state === 'sending')),
  }
}

export type Uploads = ReturnType<typeof useUploads>
