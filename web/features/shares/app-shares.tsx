import { useQuery } from '@tanstack/react-query'
import { Plus, Share2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { App, IssuedShare, Share } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { useTimes } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { MadeDialog, ShareDialog } from './share-dialog.tsx'
import { ShareEdit } from './share-edit.tsx'

/** The shares of this app. */
export function AppShares({ app }: { readonly app: App }) {
  const { t } = useI18n()
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<IssuedShare | null>(null)
  const [asked, setAsked] = useState<Share | null>(null)
  const [edited, setEdited] = useState<Share | null>(null)
  const [rotated, setRotated] = useState<Share | null>(null)
  const rotate = useAction(api.shares.rotate, {
    refresh: ['shares'],
    onDone: (share) => {
      setRotated(null)
      setMade(share)
    },
    onGone: () => setRotated(null),
  })
  const query = useQuery({ queryKey: ['shares', app.id], queryFn: () => api.shares.list(app.id) })
  const remove = useAction(api.shares.remove, {
    done: 'app.shares.removed',
    refresh: ['shares'],
    onDone: () => setAsked(null),
    onGone: () => setAsked(null),
  })
  const add = (
    <Button size="small" icon={<Plus size={15} aria-hidden />} onClick={() => setMaking(true)}>
      {t('app.shares.new')}
    </Button>
  )
  return (
    <Section
      title={t('app.shares')}
      about={t('app.shares.about')}
      actions={<ForEditors>{add}</ForEditors>}
    >
      <div className="card overflow-hidden">
        <Loaded query={query} rows={2}>
          {({ shares }) =>
            shares.length === 0 ? (
              <Empty icon={<Share2 />} title={t('app.shares.empty')} />
            ) : (
              <ul className="divide-y divide-line">
                {shares.map((share) => (
                  <Row
                    key={share.id}
                    share={share}
                    onShow={({ token, url }) => token && url && setMade({ ...share, token, url })}
                    onEdit={() => setEdited(share)}
                    onRotate={() => setRotated(share)}
                    onRemove={() => setAsked(share)}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
      <ShareDialog app={app} open={making} onMade={setMade} onClose={() => setMaking(false)} />
      <MadeDialog share={made} onClose={() => setMade(null)} />
      <ShareEdit app={app} share={edited} onClose={() => setEdited(null)} />
      <Confirm
        title={t('app.shares.rotate.title', { name: rotated?.name ?? '' })}
        loss={t('app.shares.rotate.loss')}
        action={t('app.shares.rotate')}
        open={rotated !== null}
        busy={rotate.isPending}
        onConfirm={() => rotated && rotate.mutate(rotated)}
        onClose={() => setRotated(null)}
      />
      <Confirm
        title={t('app.shares.remove.title', { name: asked?.name ?? '' })}
        loss={t('app.shares.remove.loss')}
        action={t('app.shares.remove')}
        open={asked !== null}
        busy={remove.isPending}
        onConfirm={() => asked && remove.mutate(asked)}
        onClose={() => setAsked(null)}
      />
    </Section>
  )
}

interface RowProps {
  readonly share: Share
  readonly onShow: (share: Share) => void
  readonly onEdit: () => void
  readonly onRotate: () => void
  readonly onRemove: () => void
}

function Row({ share, onShow, onEdit, onRotate, onRemove }: RowProps) {
  const { t, locale } = useI18n()
  const { exact } = useTimes()
  const counts = { used: share.turns_today, all: share.daily_turns.toLocaleString(locale) }
  const act = (label: string, onClick: () => void, kind?: 'danger') => (
    <Button
      kind={kind}
      size="small"
      aria-label={t('system.summary', { name: label, value: share.name })}
      onClick={onClick}
    >
      {label}
    </Button>
  )
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-5 py-3">
      <div className="min-w-0">
        <span className="block font-medium break-words">{share.name}</span>
        <span className="block text-small wrap-anywhere text-ink-2">
          {[
            ...(share.paused ? [t('app.shares.paused')] : []),
            t('app.shares.today', counts),
            ...(share.expires_at ? [`${t('app.shares.ends')} ${exact(share.expires_at)}`] : []),
            ...share.origins,
          ].join(' · ')}
        </span>
      </div>
      <ForEditors>
        <div className="flex flex-wrap gap-2">
          {share.token && act(t('app.shares.link'), () => onShow(share))}
          {act(t('app.shares.edit'), onEdit)}
          {act(t('app.shares.rotate'), onRotate)}
          {act(t('app.shares.remove'), onRemove, 'danger')}
        </div>
      </ForEditors>
    </li>
  )
}
