import { RefreshCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { MOVED } from '../api/client.ts'
import { useI18n } from '../i18n/index.tsx'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/page.tsx'

/** Tells that the browser is in another tenant now, and offers to load the page for that one. */
export function Moved() {
  const { t } = useI18n()
  const [isMoved, setIsMoved] = useState(false)
  useEffect(() => {
    const onMoved = () => setIsMoved(true)
    addEventListener(MOVED, onMoved)
    return () => removeEventListener(MOVED, onMoved)
  }, [])
  if (!isMoved) return null
  return (
    <div role="alert" className="moved">
      <Notice tone="warn">
        <div className="flex flex-wrap items-center gap-3">
          <span className="min-w-0 flex-1 basis-60">{t('moved.text')}</span>
          <Button
            size="small"
            icon={<RefreshCw size={15} aria-hidden />}
            onClick={() => location.assign('/app')}
          >
            {t('moved.reload')}
          </Button>
        </div>
      </Notice>
    </div>
  )
}
