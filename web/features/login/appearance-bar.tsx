import { Languages, Moon, Sun } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { setTheme, useDark } from '../../lib/theme.ts'
import { Button } from '../../ui/button.tsx'

/** Language and theme for pages that have no side bar. */
export function AppearanceBar() {
  const { t, language, setLanguage } = useI18n()
  const dark = useDark()
  const size = { size: 16, 'aria-hidden': true } as const
  return (
    <div className="absolute top-3 right-3 flex gap-1">
      <Button
        kind="quiet"
        size="small"
        icon={<Languages {...size} />}
        lang={language === 'zh' ? 'en' : 'zh'}
        onClick={() => setLanguage(language === 'zh' ? 'en' : 'zh')}
      >
        {language === 'zh' ? 'English' : '中文'}
      </Button>
      <Button
        kind="quiet"
        size="small"
        icon={dark ? <Sun {...size} /> : <Moon {...size} />}
        aria-label={t(dark ? 'theme.light' : 'theme.dark')}
        onClick={() => setTheme(dark ? 'light' : 'dark')}
      />
    </div>
  )
}
