import { useBlocker } from '@tanstack/react-router'
import { useI18n } from '../i18n/index.tsx'
import { Confirm } from './dialog.tsx'

/** Asks before leaving a page with unsaved input. */
export function Unsaved({ isDirty }: { readonly isDirty: () => boolean }) {
  const { t } = useI18n()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isDirty(),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <Confirm
      title={t('unsaved.title')}
      loss={t('unsaved.loss')}
      action={t('unsaved.leave')}
      open={status === 'blocked'}
      busy={false}
      onConfirm={() => proceed?.()}
      onClose={() => reset?.()}
    />
  )
}
