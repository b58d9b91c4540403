import type { Memory } from '../../src/features/memories/model.ts'
import { call, segment } from './client.ts'

export type { Memory }

/** What a turn has written. */
export interface MemoryWrite {
  readonly action: 'remembered' | 'forgotten'
  readonly id: string
  readonly text: string
}

export interface SubjectCount {
  readonly subject: string
  readonly count: number
  readonly last_at: string
}

/** Facts, one's own or those of a device. */
export const memories = {
  /** Null: one's own. */
  list: async (subject: string | null): Promise<readonly Memory[]> => {
    const of = subject === null ? '' : `&subject=${encodeURIComponent(subject)}`
    const path = `/console/memories?limit=200${of}`
    return (await call<{ memories: Memory[] }>('GET', path)).memories
  },
  add: (input: { readonly text: string; readonly subject: string | null }) =>
    call<Memory>('POST', '/console/memories', input),
  change: ({ id, text, pinned }: Pick<Memory, 'id' | 'text' | 'pinned'>) =>
    call<Memory>('PUT', `/console/memories/${segment(id)}`, { text, pinned }),
  remove: (id: string) => call<unknown>('DELETE', `/console/memories/${segment(id)}`),
  subjects: async (app: string): Promise<readonly SubjectCount[]> => {
    const path = `/console/memories/subjects?app_id=${encodeURIComponent(app)}`
    return (await call<{ subjects: SubjectCount[] }>('GET', path)).subjects
  },
  suggest: async (session: string): Promise<readonly string[]> => {
    const body = { session_id: session }
    const path = '/console/memories/suggest'
    return (await call<{ suggestions: string[] }>('POST', path, body)).suggestions
  },
}
