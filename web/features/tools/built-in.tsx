import { useI18n } from '../../i18n/index.tsx'
import { TOOL_WORDS, TOOLS, toolName } from '../../i18n/tool-words.ts'
import { Section } from '../../ui/page.tsx'

/** The tools that come with the product. */
export function BuiltIn() {
  const { t, language } = useI18n()
  return (
    <Section title={t('tools.builtin')} about={t('tools.builtin.about')}>
      <dl className="card divide-y divide-line">
        {TOOLS.map((name) => (
          <div key={name} className="grid gap-x-6 px-5 py-2.5 sm:grid-cols-[15rem_1fr]">
            <dt>
              {toolName(name, language)} <code className="text-small text-ink-3">{name}</code>
            </dt>
            <dd className="text-note text-ink-2">{TOOL_WORDS[name][language]}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}
