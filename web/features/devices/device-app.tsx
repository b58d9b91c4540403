import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import type { Device } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { SelectField } from '../../ui/form.tsx'
import { namedChoices } from '../../ui/named-choices.ts'

/** Which assistant answers the device, once it is activated anew. */
export function DeviceApp({ device }: { readonly device: Device }) {
  const { t } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const bind = useAction(
    async (app_id: string | null) => {
      // Read again, as a colleague may have named it anew since the list was loaded.
      const { name } = await api.devices.one(device.id)
      return api.devices.update(device.id, { name, app_id })
    },
    { refresh: ['devices'], done: 'devices.saved' },
  )
  const bound = device.app_id
  const isKnown = apps.data?.apps.some(({ id }) => id === bound)
  return (
    <div className="card grid content-start gap-3 px-5 py-4">
      <SelectField
        label={t('devices.app')}
        hint={t(device.activated_at === null ? 'devices.app.hint' : 'devices.app.later')}
        value={bound ?? ''}
        choices={namedChoices(apps.data?.apps, bound ?? '', {
          none: t('devices.app.none'),
          gone: t('devices.app.gone'),
        })}
        onPick={(id) => bind.mutate(id || null)}
      />
      {bound !== null && isKnown && (
        <Link
          to="/app/apps/$id"
          params={{ id: bound }}
          className="target justify-self-start text-note underline"
        >
          {t('devices.app.open')}
        </Link>
      )}
    </div>
  )
}
