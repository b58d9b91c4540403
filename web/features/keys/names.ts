import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import type { ApiKeyMeta } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'

/** `sk-mb-12…90ab`: the first and last characters of the key. */
export const endsOf = ({ prefix, tail }: Pick<ApiKeyMeta, 'prefix' | 'tail'>): string =>
  `${prefix}…${tail ?? ''}`

/** The scope of the key: the name of its app or device. */
export function useScopeOf({ app_id, device_id }: ApiKeyMeta): string {
  const { t } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list, enabled: app_id !== null })
  const devices = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    enabled: device_id !== null,
  })
  if (device_id !== null) {
    const device = devices.data?.devices.find(({ id }) => id === device_id)
    return t('keys.scope.device', { name: device?.name ?? device_id })
  }
  if (app_id === null) return t('keys.scope.general')
  const app = apps.data?.apps.find(({ id }) => id === app_id)
  return t('keys.scope.app', { name: app?.name ?? app_id })
}
