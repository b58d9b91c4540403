import { call, postFile } from './client.ts'
import type * as T from './types.ts'

/** What a tenant takes along. All calls throw `ApiError`. */
export const transfer = {
  read: () => call<T.ConfigExport>('GET', '/console/export'),
  /** A file of any size, which is imported as it arrives. */
  import: (file: Blob, mode: 'skip' | 'merge', onSent: (share: number) => void) =>
    postFile<T.ImportResult>(`/console/import?kb=1&mode=${mode}`, file, onSent),
}
