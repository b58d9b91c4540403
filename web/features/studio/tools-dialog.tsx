import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SwitchField } from '../../ui/form.tsx'
import { ToolPicker } from '../apps/tool-picker.tsx'
import type { Setup } from './use-setup.ts'

interface ToolsDialogProps {
  readonly setup: Setup
  readonly onClose: () => void
}

/** Which tools the next questions may use, and whether they search the documents. */
export function ToolsDialog({ setup: { draft, change }, onClose }: ToolsDialogProps) {
  const { t } = useI18n()
  return (
    <Dialog title={t('studio.tools.title')} about={t('studio.tools.about')} open onClose={onClose}>
      <div className="grid gap-4">
        <SwitchField label={t('apps.kb')} on={draft.kb} onChange={(kb) => change({ kb })} />
        <ToolPicker tools={draft.tools} onChange={(tools) => change({ tools })} />
        <div className="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            {t('action.close')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
