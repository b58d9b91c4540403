import { useI18n } from '../../i18n/index.tsx'

/** The model's reasoning before its answer, folded. */
export function Thoughts({ text }: { readonly text: string }) {
  const { t } = useI18n()
  if (text === '') return null
  return (
    <details className="text-[0.88rem] text-ink-3">
      <summary className="target cursor-pointer">{t('studio.thoughts')}</summary>
      <p className="thoughts">{text}</p>
    </details>
  )
}
