import {
  APP_DESCRIPTION_CHARS_MAX,
  APP_GREETING_CHARS_MAX,
} from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { AreaField, TextField } from '../../ui/form.tsx'
import { areStarters, type Draft } from './draft.ts'

interface FaceFieldsProps {
  readonly draft: Draft
  readonly change: (more: Partial<Draft>) => void
}

/** How an assistant shows itself. */
export function FaceFields({ draft, change }: FaceFieldsProps) {
  const { t } = useI18n()
  return (
    <fieldset className="grid gap-5">
      <legend className="mb-3 font-medium">{t('apps.face')}</legend>
      <p className="text-small text-ink-2">{t('apps.face.about')}</p>
      <div className="grid gap-5 items-start sm:grid-cols-[8rem_minmax(0,1fr)]">
        <TextField
          label={t('apps.icon')}
          hint={t('apps.icon.hint')}
          value={draft.icon}
          onText={(icon) => change({ icon })}
        />
        <TextField
          label={t('apps.description')}
          maxLength={APP_DESCRIPTION_CHARS_MAX}
          value={draft.description}
          onText={(description) => change({ description })}
        />
      </div>
      <AreaField
        label={t('apps.greeting')}
        hint={t('apps.greeting.hint')}
        value={draft.greeting}
        charsMax={APP_GREETING_CHARS_MAX}
        rows={2}
        onText={(greeting) => change({ greeting })}
      />
      <AreaField
        label={t('apps.starters')}
        hint={t('apps.starters.hint')}
        problem={areStarters(draft.starters) ? null : t('apps.starters.wrong')}
        value={draft.starters.join('\n')}
        rows={4}
        onText={(text) => change({ starters: text === '' ? [] : text.split('\n') })}
      />
    </fieldset>
  )
}
