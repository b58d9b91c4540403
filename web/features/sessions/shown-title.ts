import { IMAGE_PLACEHOLDER } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'

/**
 * A conversation is called by its first question, in which the memory notes pictures in Chinese.
 */
export function useShownTitle(): (title: string) => string {
  const { t } = useI18n()
  return (title) => title.replaceAll(IMAGE_PLACEHOLDER, () => t('studio.picture.noted'))
}
