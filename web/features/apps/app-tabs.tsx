import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useCallback, useEffect, useId, useState } from 'react'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { tabKeys } from '../../ui/tab-keys.ts'

const TABS = ['build', 'knowledge', 'publish', 'activity'] as const
export type AppTab = (typeof TABS)[number]

const LABELS: Readonly<Record<AppTab, Key>> = {
  build: 'apps.tab.build',
  knowledge: 'apps.tab.knowledge',
  publish: 'apps.tab.publish',
  activity: 'apps.tab.activity',
}

const TAB =
  'target flex-none py-2.5 border-b-2 border-transparent px-3 whitespace-nowrap sm:px-4 ' +
  'aria-selected:border-accent aria-selected:font-medium'

interface AppTabsProps {
  readonly parts: Readonly<Record<AppTab, ReactNode>>
  /** Whether the form alone is shown. */
  readonly isBare: boolean
}

/** The parts of an assistant's page. A form stays as it was typed while another part is shown. */
export function AppTabs({ parts, isBare }: AppTabsProps) {
  const { t } = useI18n()
  const id = useId()
  const [chosen, setShown] = useState<AppTab>('build')
  const shown = isBare ? 'build' : chosen
  const [seen, setSeen] = useState<ReadonlySet<AppTab>>(new Set(['build']))
  const show = useCallback((tab: AppTab) => {
    setShown(tab)
    setSeen((before) => new Set([...before, tab]))
  }, [])
  const { new: wanted }: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  useEffect(() => {
    // A new key was asked for, and its dialog is on this part.
    if (wanted !== undefined) show('publish')
  }, [wanted, show])
  const onKey = tabKeys(TABS, shown, show)
  return (
    <>
      <div
        role="tablist"
        aria-label={t('apps.tab')}
        hidden={isBare}
        className="mb-5 flex gap-1 overflow-x-auto border-b border-line [&[hidden]]:hidden"
      >
        {TABS.map((tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${tab}`}
            aria-controls={`${id}-${tab}-panel`}
            aria-selected={tab === shown}
            tabIndex={tab === shown ? 0 : -1}
            className={TAB}
            onClick={() => show(tab)}
            onKeyDown={onKey}
          >
            {t(LABELS[tab])}
          </button>
        ))}
      </div>
      {TABS.map((tab) => (
        <div
          key={tab}
          role="tabpanel"
          id={`${id}-${tab}-panel`}
          aria-labelledby={`${id}-${tab}`}
          hidden={tab !== shown}
        >
          {seen.has(tab) && (!isBare || tab === 'build') && parts[tab]}
        </div>
      ))}
    </>
  )
}
