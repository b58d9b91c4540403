import { ArrowUp, AudioLines, ListPlus, Mic, Square } from 'lucide-react'
import type { ReactNode } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { QuestionLength } from './question-length.tsx'
import { useSpeech } from './use-speech.ts'
import type { Voice } from './use-voice.ts'
import { VoiceOff } from './voice-off.tsx'

interface ActionsProps {
  readonly running: boolean
  /** Null when the page cannot record; undefined where nothing is asked by voice. */
  readonly voice: Voice | null | undefined
  /** The characters of a question that is long; else 0. */
  readonly chars: number
  readonly ready: boolean
  /** Whether the question waits for its files, or for the end of the answer. */
  readonly queued: boolean
  /** The button for what can be put beside the question. */
  readonly add: ReactNode
  readonly onCall: (() => void) | undefined
  readonly onStop: () => void
}

const icon = { size: 17, 'aria-hidden': true } as const
const quiet = { kind: 'quiet', size: 'small' } as const

/** The buttons for the question being written. */
export function ComposerActions(props: ActionsProps) {
  const { running, voice, chars, ready, queued, add, onCall, onStop } = props
  const { t } = useI18n()
  return (
    <div className="flex items-center gap-1">
      {add}
      {voice !== undefined && <Speaking running={running} voice={voice} onCall={onCall} />}
      <span className="ml-2 flex-1 text-mini text-ink-3">
        <span role="status">{queued && t(running ? 'studio.queued' : 'studio.queued.files')}</span>
        <QuestionLength chars={chars} />
        {!queued && chars === 0 && <span className="hidden sm:inline">{t('studio.keys')}</span>}
      </span>
      {running && (
        <Button icon={<Square {...icon} />} onClick={onStop}>
          {t('studio.stop')}
        </Button>
      )}
      {running && ready && (
        <Button
          type="submit"
          kind="primary"
          icon={<ListPlus {...icon} />}
          aria-label={t('studio.queue.add')}
          title={t('studio.queue.add')}
        />
      )}
      {!running && (
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

/** The buttons to say a question, and to talk by voice alone. */
function Speaking({ running, voice, onCall }: Pick<ActionsProps, 'running' | 'voice' | 'onCall'>) {
  const { t } = useI18n()
  const { canHear, canSpeak } = useSpeech()
  if (!voice) return <VoiceOff lack="page" />
  if (!canHear) return <VoiceOff lack="hearing" />
  return (
    <>
      <Button
        {...quiet}
        icon={<Mic {...icon} />}
        busy={voice.state === 'thinking'}
        disabled={running}
        aria-label={t('studio.voice')}
        onClick={voice.start}
      />
      {canSpeak ? (
        <Button
          {...quiet}
          icon={<AudioLines {...icon} />}
          disabled={running || voice.state === 'thinking'}
          aria-label={t('call.begin')}
          onClick={onCall}
        />
      ) : (
        <VoiceOff lack="voice" />
      )}
    </>
  )
}
