import { useSearch } from '@tanstack/react-router'
import { LogIn, LogOut } from 'lucide-react'
import { mcpServers } from '../../api/mcp-servers.ts'
import type { McpServer } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Ago, Notice } from '../../ui/page.tsx'

/** Who is signed in at a server, and the way to sign in and out. */
export function ServerSignIn({ server }: { readonly server: McpServer }) {
  const { t } = useI18n()
  const { id, signed_in: isIn, signed_in_by: who, signed_in_at: at, scopes_needed: needed } = server
  const begin = useAction(() => mcpServers.signIn(id), {
    onDone: ({ url }) => location.assign(url),
  })
  const end = useAction(() => mcpServers.signOut(id), {
    done: 'tools.signin.ended',
    refresh: ['mcp-servers'],
  })
  return (
    <div className="grid gap-2">
      <Notice tone={isIn ? 'good' : 'warn'} icon={<LogIn size={16} aria-hidden />}>
        {isIn && at !== null ? (
          <p>
            {t('tools.signin.by', { who: who ?? '' })} <Ago at={at} />
          </p>
        ) : (
          <p>{t('tools.signin.needed')}</p>
        )}
        <p>{t('tools.signin.shared')}</p>
      </Notice>
      {needed !== null && (
        <Notice tone="warn" icon={<LogIn size={16} aria-hidden />}>
          {t('tools.signin.more', { scopes: needed })}
        </Notice>
      )}
      <ForEditors>
        <div className="flex flex-wrap gap-2">
          <Button
            size="small"
            kind={isIn && needed === null ? undefined : 'primary'}
            icon={<LogIn size={15} aria-hidden />}
            busy={begin.isPending}
            onClick={() => begin.mutate(undefined)}
          >
            {t(isIn ? 'tools.signin.again' : 'tools.signin')}
          </Button>
          {isIn && (
            <Button
              size="small"
              icon={<LogOut size={15} aria-hidden />}
              busy={end.isPending}
              onClick={() => end.mutate(undefined)}
            >
              {t('tools.signin.end')}
            </Button>
          )}
        </div>
      </ForEditors>
    </div>
  )
}

const FAULTS = ['denied', 'refused', 'unavailable', 'changed'] as const

/** What came of signing in, where the browser has just come back from it. */
export function SignInAnswer() {
  const { t } = useI18n()
  const search: Record<string, unknown> = useSearch({ strict: false })
  if ('signed_in' in search) {
    return (
      <p role="status" className="mb-3">
        {t('tools.signin.done')}
      </p>
    )
  }
  if (!('error' in search)) return null
  const fault = FAULTS.find((one) => one === search.error) ?? 'expired'
  return (
    <div role="alert" className="mb-3">
      <Notice tone="bad">{t(`tools.signin.fault.${fault}`)}</Notice>
    </div>
  )
}
