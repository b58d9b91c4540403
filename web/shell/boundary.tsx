import { TriangleAlert } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { Button } from '../ui/button.tsx'

/** In place of a page that failed. */
export function Broken() {
  const { t } = useI18n()
  return (
    <div className="page grid justify-items-center gap-3 py-24 text-center" role="alert">
      <TriangleAlert size={28} className="text-warn" aria-hidden />
      <h1>{t('error.broken')}</h1>
      <p className="max-w-md text-ink-2">{t('error.broken.text')}</p>
      <Button kind="primary" onClick={() => location.reload()}>
        {t('action.reload')}
      </Button>
    </div>
  )
}

interface BoundaryProps {
  readonly children: ReactNode
  /** Shown in place of failing children; by default a notice with a reload button. */
  readonly fallback?: ReactNode
}

/** An error boundary around one part of the page. A class, because React has no hook for it. */
export class ErrorBoundary extends Component<BoundaryProps, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    const { children, fallback = <Broken /> } = this.props
    return this.state.failed ? fallback : children
  }
}
