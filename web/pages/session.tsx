import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { MessagesSquare, SquareTerminal, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import { Past } from '../features/studio/past.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

/** Shows the stored turns of a session. */
export function SessionPage() {
  const { t } = useI18n()
  const navigate = useNavigate()
  const { id = 'anon' }: { id?: string } = useParams({ strict: false })
  const [asked, setAsked] = useState(false)
  const query = useQuery({
    queryKey: ['sessions', id],
    queryFn: () => api.sessions.history(id),
  })
  const remove = useAction(api.sessions.remove, {
    done: 'sessions.deleted',
    refresh: ['sessions'],
    onDone: () => void navigate({ to: '/app/sessions' }),
  })
  const actions = (
    <>
      <Link to="/app/studio" search={{ session: id }} className="btn">
        <SquareTerminal size={16} aria-hidden />
        {t('sessions.continue')}
      </Link>
      <Button kind="danger" icon={<Trash2 size={16} aria-hidden />} onClick={() => setAsked(true)}>
        {t('action.delete')}
      </Button>
    </>
  )
  return (
    <Page title={id} about={t('sessions.history')} actions={actions}>
      <Loaded query={query}>
        {(history) => (
          <div className="grid max-w-3xl grid-cols-1 gap-6">
            {history.messages.length === 0 && (
              <Empty icon={<MessagesSquare />} title={t('sessions.none')} />
            )}
            <Past history={history} />
          </div>
        )}
      </Loaded>
      <Confirm
        title={t('sessions.delete.title', { id })}
        loss={t('sessions.delete.loss')}
        action={t('action.delete')}
        open={asked}
        busy={remove.isPending}
        onConfirm={() => remove.mutate(id)}
        onClose={() => setAsked(false)}
      />
    </Page>
  )
}
