import { useBlocker } from '@tanstack/react-router'
import { useI18n } from '../i18n/index.tsx'
import { Confirm } from './dialog.tsx'

interface UnsavedProps {
  readonly isDirty: () => boolean
  /** What is lost, where that is not what was typed. */
  readonly loss?: string
}

/** Asks before leaving a page with what is nowhere else, such as unsaved input. */
export function Unsaved({ isDirty, loss }: UnsavedProps) {
  const { t } = useI18n()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isDirty(),
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <Confirm
      title={t('unsaved.title')}
      loss={loss ?? t('unsaved.loss')}
      action={t('unsaved.leave')}
      open={status === 'blocked'}
      busy={false}
      onConfirm={() => proceed?.()}
      onClose={() => reset?.()}
    />
  )
}
