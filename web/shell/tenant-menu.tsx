import { useQuery } from '@tanstack/react-query'
import { api } from '../api/index.ts'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'

/** Switches between the tenants of a person; the page reloads after that. */
export function TenantMenu() {
  const { t } = useI18n()
  const me = useQuery({ queryKey: ['me'], queryFn: api.auth.me })
  const move = useAction(api.auth.switchTo, { onDone: () => location.assign('/app') })
  if (!me.data || me.data.tenants.length < 2) return null
  return (
    <select
      className="input mb-2"
      aria-label={t('tenant.switch')}
      value={me.data.tenant_id}
      disabled={move.isPending}
      onChange={(event) => move.mutate(event.target.value)}
    >
      {me.data.tenants.map(({ id, name, role }) => (
        <option key={id} value={id}>
          {`${name} · ${t(`members.role.${role}`)}`}
        </option>
      ))}
    </select>
  )
}
