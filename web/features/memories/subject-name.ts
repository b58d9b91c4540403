import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'

/** What people call a subject: a device by its name. */
export function useSubjectName(subject: string): string {
  const [, id] = /^device:(.+)$/.exec(subject) ?? []
  const query = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    enabled: id !== undefined,
  })
  return query.data?.devices.find((device) => device.id === id)?.name ?? subject
}
