import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { CopyButton } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { Qr } from '../../ui/qr.tsx'

const POLL_MS = 5_000

/** The address for boards, and which boards are connected. */
export const useBoards = () =>
  useQuery({ queryKey: ['boards'], queryFn: api.devices.boards, refetchInterval: POLL_MS })

/** The address for the Wi-Fi page of a xiaozhi board, with the activation code in it. */
export function BoardAddress({ code }: { readonly code: string }) {
  const { t } = useI18n()
  const { data } = useBoards()
  if (!data) return null
  const address = `${data.address}${code}/`
  return (
    <details className="w-full rounded-lg border border-line px-4 py-3">
      <summary className="cursor-pointer font-medium">{t('devices.board')}</summary>
      <div className="mt-3 grid justify-items-center gap-3">
        <p className="w-full text-note text-ink-2">
          {t('devices.board.steps')}{' '}
          <a className="underline" href="/docs/xiaozhi" target="_blank" rel="noreferrer">
            {t('devices.board.guide')}
          </a>
        </p>
        <Qr text={address} />
        <div className="flex w-full items-center gap-2">
          <code className="min-w-0 grow break-all" data-testid="board-address">
            {address}
          </code>
          <CopyButton text={address} what={t('devices.board.address')} />
        </div>
        {!data.reachable && <Unreachable />}
      </div>
    </details>
  )
}

/** An address such as `localhost` means the board itself. */
export function Unreachable() {
  const { t } = useI18n()
  return (
    <Notice tone="warn" icon={<TriangleAlert size={16} aria-hidden />}>
      {t('devices.board.unreachable')}
    </Notice>
  )
}
