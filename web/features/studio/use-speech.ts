import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'

const STALE_MS = 60_000

/** Whether the server has recognition and synthesis; true while unknown. */
export function useSpeech() {
  const status = useQuery({
    queryKey: ['status'],
    queryFn: api.status,
    staleTime: STALE_MS,
    retry: false,
  })
  const isOn = (check: string) =>
    status.data?.checks.find(({ name }) => name === check)?.state !== 'off'
  return { canHear: isOn('asr'), canSpeak: isOn('tts') }
}
