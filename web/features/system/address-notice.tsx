import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useOperator } from '../../lib/rights.ts'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/form.tsx'
import { Notice } from '../../ui/page.tsx'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Before a link is given to others: asks for the address that they use, where the console was
 * opened on this machine and none is known. Nothing is shown elsewhere.
 */
export function AddressNotice() {
  const isOperator = useOperator()
  const isHere = LOOPBACK.includes(location.hostname)
  const { t } = useI18n()
  if (!isHere) return null
  return isOperator ? <AskAddress /> : <Notice tone="warn">{t('address.other')}</Notice>
}

/** The setting of the address that people use; undefined for who does not run the server. */
function usePublicAddress() {
  const enabled = useOperator()
  const query = useQuery({ queryKey: ['system'], queryFn: api.system.read, enabled })
  return query.data?.settings.find(({ name }) => name === 'MB_PUBLIC_URL')
}

/** The page at which invited people sign in, by the public address where it is known. */
export function useSignInPage(): string {
  const address = usePublicAddress()?.value
  return new URL('/login', address || location.origin).href
}

function AskAddress() {
  const { t } = useI18n()
  const [typed, setTyped] = useState('')
  const address = usePublicAddress()
  const save = useAction((url: string) => api.system.save({ MB_PUBLIC_URL: url }), {
    done: 'system.saved',
    refresh: ['system'],
  })
  const isAddress = URL.canParse(typed.trim())
  if (!address || address.value || address.locked) return null
  return (
    <Notice tone="warn">
      <p>{t('address.ask')}</p>
      <div className="mt-3 flex flex-wrap items-end gap-2">
        <div className="min-w-0 grow text-ink">
          <TextField
            label={t('address.label')}
            type="url"
            placeholder="https://moonbase.example.com"
            value={typed}
            onText={setTyped}
            onKeyDown={(event) => {
              // It stands in forms that the key would send.
              if (event.key !== 'Enter') return
              event.preventDefault()
              if (isAddress) save.mutate(typed.trim())
            }}
          />
        </div>
        <Button
          busy={save.isPending}
          disabled={!isAddress}
          onClick={() => save.mutate(typed.trim())}
        >
          {t('action.save')}
        </Button>
      </div>
      <Link to="/app/system" className="mt-2 inline-block underline">
        {t('address.network')}
      </Link>
    </Notice>
  )
}
