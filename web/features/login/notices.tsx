import { Bell } from 'lucide-react'
import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { askForNotices, noticeRight } from '../../lib/browser-notice.ts'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'

/** Whether the browser tells of answers that end while another window is looked at. */
export function BrowserNotices() {
  const { t } = useI18n()
  const [right, setRight] = useState(noticeRight)
  if (right === null) return null
  const ask = () => void askForNotices().finally(() => setRight(noticeRight()))
  return (
    <Section title={t('notices')} about={t('notices.about')}>
      {right === 'default' ? (
        <Button icon={<Bell size={16} aria-hidden />} onClick={ask}>
          {t('notices.allow')}
        </Button>
      ) : (
        <p role="status">{t(right === 'granted' ? 'notices.on' : 'notices.off')}</p>
      )}
    </Section>
  )
}
