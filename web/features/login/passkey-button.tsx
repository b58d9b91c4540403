import { browserSupportsWebAuthn, startAuthentication } from '@simplewebauthn/browser'
import { KeyRound } from 'lucide-react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'

async function signIn(): Promise<void> {
  const options = await api.auth.passkeyOptions()
  const response = await startAuthentication({ optionsJSON: options })
  await api.auth.passkeyVerify(response)
}

/** Signs in by a passkey, where the browser knows them. */
export function PasskeyButton({ onDone }: { readonly onDone: () => void }) {
  const { t } = useI18n()
  const explain = useExplain()
  const action = useAction(signIn, { shows: () => true, onDone })
  if (!browserSupportsWebAuthn()) return null
  return (
    <div className="grid gap-3">
      <Button
        icon={<KeyRound aria-hidden size={16} />}
        busy={action.isPending}
        onClick={() => action.mutate(undefined)}
      >
        {t('login.passkey')}
      </Button>
      {action.error && (
        <Notice tone="bad">
          {action.error.name === 'ApiError' ? explain(action.error) : t('login.passkey.failed')}
        </Notice>
      )}
    </div>
  )
}
