import { RefreshCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { MOVED } from '../api/client.ts'
import { useConversations } from '../features/studio/conversations.ts'
import { freshSession } from '../features/studio/fresh.ts'
import { useI18n } from '../i18n/index.tsx'
import { OUTDATED } from '../lib/lazy-chunks.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/page.tsx'

/**
 * Tells that the browser is in another tenant now, or that the server has another build, and offers
 * to load the page for that one.
 */
export function Moved() {
  const { t } = useI18n()
  const { last, drafts } = useConversations()
  const [text, setText] = useState<'moved.text' | 'outdated.text' | null>(null)
  useEffect(() => {
    const onMoved = () => setText('moved.text')
    const onOutdated = () => setText('outdated.text')
    addEventListener(MOVED, onMoved)
    addEventListener(OUTDATED, onOutdated)
    return () => {
      removeEventListener(MOVED, onMoved)
      removeEventListener(OUTDATED, onOutdated)
    }
  }, [])
  if (text === null) return null
  const reload = () => {
    if (text === 'outdated.text') return location.reload()
    // Its talk is not there.
    const { session } = last() ?? {}
    if (session) drafts.carry(session, freshSession)
    location.assign('/app')
  }
  return (
    <div role="alert" className="moved">
      <Notice tone="warn">
        <div className="flex flex-wrap items-center gap-3">
          <span className="min-w-0 flex-1 basis-60">{t(text)}</span>
          <Button size="small" icon={<RefreshCw size={15} aria-hidden />} onClick={reload}>
            {t('moved.reload')}
          </Button>
        </div>
      </Notice>
    </div>
  )
}
