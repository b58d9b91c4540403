import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import type { SystemSetting } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { CopyButton } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { Qr } from '../../ui/qr.tsx'
import { Choices } from './choices.tsx'
import { Locked } from './locked.tsx'

const LOOPBACK = '127.0.0.1'
const EVERYWHERE = '0.0.0.0'

/** Whether other machines reach the server, and at which addresses. */
export function Reach({ settings }: { readonly settings: readonly SystemSetting[] }) {
  const { t } = useI18n()
  const host = settings.find(({ name }) => name === 'MB_HOST')
  const isOpen = host?.value !== LOOPBACK && host?.value !== 'localhost'
  const save = useAction(
    (open: string) => api.system.save({ MB_HOST: open === 'network' ? EVERYWHERE : null }),
    { done: 'system.saved', refresh: ['system'] },
  )
  const found = useQuery({
    queryKey: ['system', 'addresses'],
    queryFn: () => api.system.test('host'),
    enabled: isOpen,
  })
  const addresses = found.data?.ok ? found.data.text.split(', ') : []
  const [first] = addresses
  return (
    <Section title={t('reach.title')} about={t('reach.about')}>
      <div className="card grid gap-5 p-5">
        <Choices
          label={t('reach.title')}
          value={save.isPending ? save.variables : isOpen ? 'network' : 'machine'}
          choices={[
            { value: 'machine', label: t('reach.machine'), hint: t('reach.machine.hint') },
            { value: 'network', label: t('reach.network'), hint: t('reach.network.hint') },
          ]}
          locked={host?.locked ?? true}
          onPick={(value) => save.mutate(value)}
        />
        {host?.locked && <Locked names={['MB_HOST']} />}
        {isOpen && first && (
          <div className="flex flex-wrap items-center gap-5">
            <Qr text={first} />
            <ul className="grid min-w-0 gap-2" aria-label={t('reach.addresses')}>
              {addresses.map((address) => (
                <li key={address} className="flex flex-wrap items-center gap-2">
                  <code className="break-all">{address}</code>
                  <CopyButton text={address} what={address} size="small" />
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Section>
  )
}
