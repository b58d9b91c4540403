import { call, postFile, segment } from './client.ts'
import type { Conversation, Source } from './types.ts'

type Sorting = 'folder' | 'pinned' | 'archived'

/** A talk; one that is only in this tab so far cannot be sorted yet. */
export type Talk = Omit<Conversation, Sorting> & Partial<Pick<Conversation, Sorting>>

/** A file that a question names. */
export interface FileName {
  readonly file_id: string
  readonly name: string
}

/** A turn that the server has not stored yet. */
export interface Pending {
  readonly turn_id: string
  readonly state: 'running' | 'interrupted'
  readonly text: string
  readonly partial: string
  readonly images?: readonly { readonly file_id: string }[]
  readonly named?: readonly FileName[]
  readonly started_at: string
}

/** One of the ways that a talk went, and the turn after which it left another. */
export interface Version {
  readonly session_id: string
  readonly from_seq: number | null
  readonly last_at: string
  /** The last turn that it shares with the talk that was asked for; null for that one. */
  readonly shared_seq: number | null
  /** When its turn after that was stored; null when it has none. */
  readonly next_at: string | null
}

/** A file beside a question. */
export interface TalkFile {
  readonly id: string
  readonly name: string
  readonly bytes: number
  readonly state: 'reading' | 'ready' | 'failed'
  readonly error: string | null
  readonly error_class: Source['error_class']
  readonly pages?: number | null
  readonly pages_done?: number | null
  /** Until when a failed one can be read again; absent: it cannot. */
  readonly readable_until?: string
}

/** A text that is kept to be asked again, by its name. */
export interface Prompt {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly text: string
}

const session = (id: string, rest: string) => `/console/sessions/${segment(id)}${rest}`
const turn = (id: string, rest = '') => `/console/agent/turns/${segment(id)}${rest}`

/** The address of a picture that is kept with a talk. */
export const picturePath = (id: string) => `/console/files/${segment(id)}/image`

/** A picture that is kept with a talk. */
export async function pictureAt(path: string): Promise<Blob> {
  const answer = await fetch(path)
  if (!answer.ok) throw new Error(`picture: ${answer.status}`)
  return answer.blob()
}

/** Calls about talks, their turns and their files. All of them throw `ApiError`. */
export const talks = {
  /** Turns that are running, or that an end of the server has interrupted. */
  pending: async (id: string): Promise<readonly Pending[]> => (await talks.head(id)).pending ?? [],
  /** What a talk is called, when its last turn was stored, and those that have not ended. */
  head: (id: string) =>
    call<{ title?: string; last_at?: string; pending?: readonly Pending[] }>(
      'GET',
      `/console/conversations/${segment(id)}`,
    ),
  change: (id: string, input: Partial<Pick<Talk, 'folder' | 'pinned' | 'archived'>>) =>
    call<Talk>('PUT', `/console/conversations/${segment(id)}`, input),
  versions: async (id: string): Promise<readonly Version[]> => {
    const path = `/console/conversations/${segment(id)}/versions`
    return (await call<{ versions: Version[] }>('GET', path)).versions
  },
  /**
   * Another way for the talk to go on after the turn `seq`; 0 is before the first one. Until
   * something is asked in it, the list keeps the present way.
   */
  branch: (id: string, seq: number) =>
    call<{ session_id: string }>('POST', session(id, '/branch'), { seq, for_question: true }),
  /** Deletes one way of a talk; the others stay. */
  removeBranch: (id: string) => call<unknown>('DELETE', session(id, '')),
  /** Stops the model; what it has written is stored. */
  stop: (id: string) => call<{ stored: boolean }>('POST', turn(id, '/stop')),
  drop: (id: string) => call<unknown>('DELETE', turn(id)),
  exportPath: (id: string, format: 'md' | 'json') => session(id, `/export?format=${format}`),
  sendFile(file: File, onSent: (share: number) => void) {
    const form = new FormData()
    form.set('file', file)
    return postFile<TalkFile>('/console/files', form, onSent)
  },
  file: (id: string) => call<TalkFile>('GET', `/console/files/${segment(id)}`),
  dropFile: (id: string) => call<unknown>('DELETE', `/console/files/${segment(id)}`),
  readFileAgain: (id: string) => call<TalkFile>('POST', `/console/files/${segment(id)}/refresh`),
  keepFile: (id: string) => call<unknown>('POST', `/console/files/${segment(id)}/keep`, {}),
  prompts: async (): Promise<readonly Prompt[]> =>
    (await call<{ prompts: Prompt[] }>('GET', '/console/prompts?limit=200')).prompts,
  savePrompt: (id: string | null, input: Omit<Prompt, 'id'>) =>
    id === null
      ? call<Prompt>('POST', '/console/prompts', input)
      : call<Prompt>('PUT', `/console/prompts/${segment(id)}`, input),
  removePrompt: (id: string) => call<unknown>('DELETE', `/console/prompts/${segment(id)}`),
}
