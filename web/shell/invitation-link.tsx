import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Mail } from 'lucide-react'
import { api } from '../api/index.ts'
import { useI18n } from '../i18n/index.tsx'

/** Leads to the invitations of the person, while there are some. */
export function InvitationLink({ onGo }: { readonly onGo?: (() => void) | undefined }) {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['invitations'], queryFn: api.auth.invitations })
  const count = query.data?.invitations.length ?? 0
  if (count === 0) return null
  return (
    <Link to="/app/invitations" className="nav-link mb-2" onClick={onGo}>
      <Mail size={17} strokeWidth={1.75} aria-hidden />
      {t('invitations.open', { count })}
      <span className="dot" aria-hidden />
    </Link>
  )
}
