import { useI18n } from '../i18n/index.tsx'
import { Button } from './button.tsx'

interface FormEndProps {
  /** What sends the form, where it does more than save. */
  readonly action?: string
  readonly busy: boolean
  readonly disabled?: boolean
  readonly onCancel: () => void
}

/** The end of a form that opens above a page: leave it, or send it. */
export function FormEnd({ action, busy, disabled = false, onCancel }: FormEndProps) {
  const { t } = useI18n()
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onCancel}>{t('action.cancel')}</Button>
      <Button type="submit" kind="primary" busy={busy} disabled={disabled}>
        {action ?? t('action.save')}
      </Button>
    </div>
  )
}
