import { useI18n } from '../../i18n/index.tsx'
import { LocalServers } from './local-servers.tsx'
import { ModelPackFiles } from './model-pack.tsx'

/** For operators: ways to a first model other than an address and a key. */
export function FirstModel({ onUsed }: { readonly onUsed?: (() => void) | undefined }) {
  const { t } = useI18n()
  return (
    <div className="grid gap-3">
      <p>{t('system.first.about')}</p>
      <LocalServers onUsed={onUsed} />
      <ModelPackFiles />
    </div>
  )
}
