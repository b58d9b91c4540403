import { Link } from '@tanstack/react-router'
import { ArrowUp, Mic, MicOff, Paperclip, Square } from 'lucide-react'
import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useSpeech } from './use-speech.ts'
import type { Voice } from './use-voice.ts'

interface ActionsProps {
  readonly running: boolean
  /** Null when the page cannot record. */
  readonly voice: Voice | null
  readonly ready: boolean
  /** Whether the question waits for the end of the current answer. */
  readonly queued: boolean
  /** The label of the button that adds files. */
  readonly files: string
  readonly onAttach: () => void
  readonly onStop: () => void
}

const icon = { size: 17, 'aria-hidden': true } as const
const quiet = { kind: 'quiet', size: 'small' } as const

/** The buttons for the question being written. */
export function ComposerActions(props: ActionsProps) {
  const { running, voice, ready, queued, files, onAttach, onStop } = props
  const { t } = useI18n()
  const { canHear } = useSpeech()
  return (
    <div className="flex items-center gap-1">
      <Button {...quiet} icon={<Paperclip {...icon} />} aria-label={files} onClick={onAttach} />
      {voice && canHear && (
        <Button
          {...quiet}
          icon={<Mic {...icon} />}
          busy={voice.state === 'thinking'}
          disabled={running}
          aria-label={t('studio.voice')}
          onClick={voice.start}
        />
      )}
      {voice && !canHear && <Deaf />}
      <span className="ml-2 flex-1 text-mini text-ink-3">
        <span role="status">{queued && t('studio.queued')}</span>
        {!queued && <span className="hidden sm:inline">{t('studio.keys')}</span>}
      </span>
      {running ? (
        <Button icon={<Square {...icon} />} onClick={onStop}>
          {t('studio.stop')}
        </Button>
      ) : (
        <Button
          type="submit"
          kind="primary"
          icon={<ArrowUp {...icon} />}
          aria-label={t('studio.send')}
          disabled={!ready}
        />
      )}
    </div>
  )
}

/** Says that this server has no speech recognition, and how to turn it on. */
function Deaf() {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        {...quiet}
        icon={<MicOff {...icon} />}
        aria-label={t('studio.voice.off')}
        onClick={() => setOpen(true)}
      />
      <Dialog title={t('studio.voice.off')} open={isOpen} onClose={() => setOpen(false)}>
        <p>{t('studio.voice.off.text')}</p>
        <Link to="/docs/$page" params={{ page: 'voice' }} className="mt-3 inline-block underline">
          {t('studio.voice.off.how')}
        </Link>
      </Dialog>
    </>
  )
}
