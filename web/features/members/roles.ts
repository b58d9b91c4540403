import type { Me } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'

export type Role = Me['role']

const ROLES: readonly Role[] = ['owner', 'editor', 'viewer']

/** The roles as the choices of a field. */
export function useRoles() {
  const { t } = useI18n()
  return ROLES.map((value) => ({ value, label: t(`members.role.${value}`) }))
}
