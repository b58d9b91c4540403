import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { SquareTerminal, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import { useShownTitle } from '../features/sessions/shown-title.ts'
import { searchOf, useKnown } from '../features/studio/known.ts'
import { Transcript } from '../features/studio/transcript.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Page } from '../ui/page.tsx'

/** Shows the stored turns of a session. */
export function SessionPage() {
  const { t } = useI18n()
  const navigate = useNavigate()
  const { id = 'anon' }: { id?: string } = useParams({ strict: false })
  const known = useKnown(id)
  const shownTitle = useShownTitle()
  const [asked, setAsked] = useState(false)
  const remove = useAction(api.sessions.remove, {
    done: 'sessions.deleted',
    refresh: ['sessions', 'conversations', 'transcript'],
    onDone: () => void navigate({ to: '/app/sessions' }),
  })
  const actions = (
    <>
      <Link to="/app/studio" search={known ? searchOf(known) : { session: id }} className="btn">
        <SquareTerminal size={16} aria-hidden />
        {t('sessions.continue')}
      </Link>
      <Button kind="danger" icon={<Trash2 size={16} aria-hidden />} onClick={() => setAsked(true)}>
        {t('action.delete')}
      </Button>
    </>
  )
  return (
    <Page
      title={known ? shownTitle(known.title) : id}
      about={t('sessions.history')}
      actions={actions}
    >
      <div className="grid max-w-3xl grid-cols-1 gap-6">
        <Transcript key={id} session={id} />
      </div>
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
