import { useState } from 'react'
import { KEY_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import type { ApiKeyMeta, KeyInput } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { draftOf, inputOf, isTooLong, rateOf, tokensOf } from './draft.ts'

interface KeyFormProps {
  /** The key that is changed; null for a new one. */
  readonly item: ApiKeyMeta | null
  readonly action: string
  readonly busy: boolean
  readonly onSubmit: (input: KeyInput) => void
  readonly onCancel: () => void
}

/** Name, rate limit and daily budget of a key. */
export function KeyForm({ item, action, busy, onSubmit, onCancel }: KeyFormProps) {
  const { t } = useI18n()
  const [draft, setDraft] = useState(() => draftOf(item))
  const input = inputOf(draft)
  return (
    <Form isWhole={input !== null} onSend={() => input && onSubmit(input)}>
      <TextField
        label={t('keys.name')}
        hint={t('keys.name.hint')}
        problem={isTooLong(draft) ? t('keys.name.long', { max: KEY_NAME_CHARS_MAX }) : null}
        value={draft.name}
        onText={(name) => setDraft({ ...draft, name })}
      />
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <TextField
          label={t('keys.rate')}
          hint={t('keys.rate.hint')}
          problem={rateOf(draft) === null ? t('keys.rate.wrong') : null}
          inputMode="numeric"
          value={draft.rate}
          onText={(rate) => setDraft({ ...draft, rate })}
        />
        <TextField
          label={t('keys.tokens')}
          hint={t('keys.tokens.hint')}
          problem={tokensOf(draft) === null ? t('keys.tokens.wrong') : null}
          inputMode="numeric"
          value={draft.tokens}
          onText={(tokens) => setDraft({ ...draft, tokens })}
        />
      </div>
      <FormEnd action={action} busy={busy} onCancel={onCancel} />
    </Form>
  )
}
