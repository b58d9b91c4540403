import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { transfer } from '../../api/transfer.ts'
import type { ImportResult } from '../../api/types.ts'
import { useAction } from '../../lib/services.tsx'

export type Mode = 'skip' | 'merge'

/** A file that is being sent; the server imports it as it arrives. */
export interface FileImport {
  readonly name: string
  /** How much has been sent, from 0 to 1. */
  readonly share: number
  /** Null while it is under way. */
  readonly result: ImportResult | null
}

/** Kept in the query client, so that the import continues while another page is open. */
const IMPORT = ['file-import']
const REFRESH = [
  ...['export', 'apps', 'personas', 'settings', 'kb', 'mcp-servers'],
  ...['prompts', 'schedules', 'webhooks'],
]

const warn = (event: Event) => event.preventDefault()

export function useFileImport(onDone: () => void) {
  const client = useQueryClient()
  const show = (state: FileImport | null) => client.setQueryData(IMPORT, state)
  const { data: current = null } = useQuery<FileImport | null>({
    queryKey: IMPORT,
    queryFn: skipToken,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  const { mutate } = useAction(
    async ({ file, mode }: { file: File; mode: Mode }) => {
      const { name } = file
      show({ name, share: 0, result: null })
      addEventListener('beforeunload', warn)
      try {
        const send = (share: number) => show({ name, share, result: null })
        const result = await transfer.import(file, mode, send)
        show({ name, share: 1, result })
      } catch (error) {
        show(null)
        throw error
      } finally {
        removeEventListener('beforeunload', warn)
      }
    },
    { refresh: REFRESH, onDone },
  )
  return { current, start: mutate, forget: () => show(null) }
}
