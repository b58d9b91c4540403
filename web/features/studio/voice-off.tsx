import { Link } from '@tanstack/react-router'
import { AudioLines, MicOff } from 'lucide-react'
import { useState } from 'react'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'

/** What speaking lacks: a page that may record, recognition, or a voice. */
export type Lack = 'page' | 'hearing' | 'voice'

const WORDS: Readonly<Record<Lack, { readonly title: Key; readonly text: Key }>> = {
  page: { title: 'studio.voice.page', text: 'studio.voice.page.text' },
  hearing: { title: 'studio.voice.off', text: 'studio.voice.off.text' },
  voice: { title: 'call.off', text: 'call.off.text' },
}

/** A button in place of one that cannot work; says why, and how to mend it. */
export function VoiceOff({ lack }: { readonly lack: Lack }) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const { title, text } = WORDS[lack]
  const Sign = lack === 'voice' ? AudioLines : MicOff
  return (
    <>
      <Button
        kind="quiet"
        size="small"
        icon={<Sign size={17} aria-hidden />}
        aria-label={t(title)}
        onClick={() => setOpen(true)}
      />
      <Dialog title={t(title)} open={isOpen} onClose={() => setOpen(false)}>
        <p>{t(text)}</p>
        <Link to="/docs/$page" params={{ page: 'voice' }} className="mt-3 inline-block underline">
          {t('studio.voice.off.how')}
        </Link>
      </Dialog>
    </>
  )
}
