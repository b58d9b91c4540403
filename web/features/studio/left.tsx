import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { SwitchField } from '../../ui/form.tsx'
import type { Place } from './conversations.ts'
import { Rail } from './rail.tsx'
import type { Conversation } from './use-conversation.ts'

interface LeftProps {
  readonly conversation: Conversation
  readonly session: string
  readonly onPick: (place: Place) => void
  readonly onNew: () => void
}

/** The conversations, or what sets up the one that is open. */
export function Left({ conversation, session, onPick, onNew }: LeftProps) {
  const { t } = useI18n()
  const [leaf, setLeaf] = useState<'rail' | 'setup'>('rail')
  return (
    <>
      <div className="segmented">
        {(['rail', 'setup'] as const).map((name) => (
          <button
            key={name}
            type="button"
            className="flex-1"
            aria-pressed={leaf === name}
            onClick={() => setLeaf(name)}
          >
            {t(`studio.${name}`)}
          </button>
        ))}
      </div>
      {leaf === 'rail' ? (
        <Rail session={session} onPick={onPick} onNew={onNew} />
      ) : (
        <SwitchField label={t('nav.kb')} on={conversation.kb} onChange={conversation.setKb} />
      )}
    </>
  )
}
