import { useMemo, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { useStable } from '../../lib/use-stable.ts'
import { Drawer } from '../../ui/dialog.tsx'
import { ChunksDialog, type Passage } from '../kb/chunks-dialog.tsx'
import { Announcer } from './announcer.tsx'
import { Asks } from './asks.tsx'
import type { Place } from './conversations.ts'
import { Talk } from './talk.tsx'
import { TalkName } from './talk-name.ts'
import type { Turn } from './turn.ts'
import { useConversation } from './use-conversation.ts'
import type { Setup } from './use-setup.ts'
import { Why } from './why.tsx'

interface SideTalkProps {
  readonly chosen: Place
  readonly setup: Setup
  /** Shows another way of the talk on this side. */
  readonly onSession: (session: string) => void
}

/** One of two talks beside each other. */
export function SideTalk({ chosen, setup, onSession }: SideTalkProps) {
  const { t } = useI18n()
  const choose = ({ session }: Partial<Place>) => session !== undefined && onSession(session)
  const conversation = useConversation({ chosen, turn: null, choose, linked: true }, setup)
  const { turns, replace, ways } = conversation
  const [passage, setPassage] = useState<Passage | null>(null)
  const [asked, setAsked] = useState<Turn | null>(null)
  const onVersion = useStable(onSession)
  const actions = useMemo(
    () => ({ onOpen: setPassage, onWhy: setAsked, onReplace: replace, onVersion }),
    [replace, onVersion],
  )
  return (
    <TalkName value={chosen.session}>
      <Talk key={chosen.session} conversation={conversation} ways={ways} actions={actions} />
      <Announcer turns={turns} />
      <Asks turns={conversation.live} />
      <Drawer
        title={t('studio.why')}
        open={asked !== null}
        look="drawer at-right"
        onClose={() => setAsked(null)}
      >
        <div className="side">
          <Why turn={asked} onOpen={setPassage} />
        </div>
      </Drawer>
      {passage && <ChunksDialog passage={passage} onClose={() => setPassage(null)} />}
    </TalkName>
  )
}
