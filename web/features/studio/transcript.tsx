import { useMemo, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/state.tsx'
import { ChunksDialog, type Passage } from '../kb/chunks-dialog.tsx'
import { Talk } from './talk.tsx'
import { createThread } from './thread.ts'
import type { Turn } from './turn.ts'
import { useStored, useSummary } from './use-stored.ts'
import { Why } from './why.tsx'

const nothing = () => {}

/** All turns of a session, read-only. */
export function Transcript({ session }: { readonly session: string }) {
  const { t } = useI18n()
  const stored = useStored(session)
  const summary = useSummary(session)
  const [thread] = useState(createThread)
  const turns = useMemo(() => thread(stored.rows, []), [thread, stored.rows])
  const [passage, setPassage] = useState<Passage | null>(null)
  const [asked, setAsked] = useState<Turn | null>(null)
  const actions = useMemo(() => ({ onOpen: setPassage, onWhy: setAsked, onReplace: nothing }), [])
  return (
    <Loaded query={stored}>
      {() => (
        <>
          <Talk
            conversation={{ turns, older: stored, summary, running: true, found: null }}
            actions={actions}
          />
          <Drawer
            title={t('studio.why')}
            look="drawer at-right"
            open={asked !== null}
            onClose={() => setAsked(null)}
          >
            <div className="side">
              <Why turn={asked} onOpen={setPassage} />
            </div>
          </Drawer>
          <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
        </>
      )}
    </Loaded>
  )
}
