import type { History } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Notice } from '../../ui/page.tsx'
import { Markdown } from '../markdown/markdown.tsx'

/** The stored turns of a session, as a conversation. */
export function Past({ history }: { readonly history: History }) {
  const { t } = useI18n()
  return (
    <>
      {history.summary && (
        <Notice>
          <p className="font-medium text-ink">{t('sessions.summary')}</p>
          <p className="whitespace-pre-wrap">{history.summary}</p>
        </Notice>
      )}
      {history.messages.length > 0 && (
        <ol className="grid grid-cols-1 gap-6">
          {withIndexKeys(history.messages).map(({ key, item: { role, content } }) => (
            <li key={key}>
              <span className="sr-only">{t(`role.${role}`)}</span>
              {role === 'user' ? (
                <div className="bubble">{content}</div>
              ) : (
                <Markdown text={content} />
              )}
            </li>
          ))}
        </ol>
      )}
    </>
  )
}
