import type { Source } from '../../api/types.ts'
import type { I18n } from '../../i18n/index.tsx'

type Failed = Pick<Source, 'error_class' | 'error' | 'readable_until'>

/** Why a source or its last check failed, and what to do next, in the words of the console. */
export function failureOf(failed: Failed, t: I18n['t']): string {
  const { error_class, error, readable_until } = failed
  const [first = '', second = ''] = error?.match(/\d+/g) ?? []
  if (error_class === null) return ''
  if (error_class === 'budget' && readable_until === undefined) return t('kb.fail.budget.gone')
  if (error_class === 'upstream' && readable_until !== undefined) return t('kb.fail.upstream.scan')
  if (error_class === 'http_status' && first === '') return t('kb.fail.redirect')
  return t(`kb.fail.${error_class}`, { first, second })
}
