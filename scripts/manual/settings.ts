import type { z } from 'zod'
import { SETTINGS } from '../../src/config.ts'
import type { Language } from './language.ts'
import { SETTING_GROUPS } from './settings-words.ts'

const TEXTS = {
  zh: {
    about:
      '所有设置都是环境变量，都可以不填。`moonbase --help` 也会列出它们。写错的值会让启动停止，' +
      '并用一句话指出变量名；不认识的 `MB_` 变量会在启动时警告。其中许多也可以由平台管理员在控制台的“服务器”里' +
      '更改，立即生效；环境变量设定的在那里是锁定的。',
    head: '| 变量 | 默认值 | 含义 |',
  },
  en: {
    about:
      'All settings are environment variables, and none is needed. `moonbase --help` lists them, ' +
      'too. A wrong value stops the start with one sentence that names the variable; an unknown ' +
      '`MB_` variable is warned of at the start. Who runs the server changes many of them in the ' +
      'console, too, behind _Server_ and at once; what the environment sets is locked there.',
    head: '| Variable | Default | Meaning |',
  },
}

type Name = keyof typeof SETTINGS

/** The page of all settings. Throws for a setting without a description. */
export function settingsPage(language: Language): string {
  const { about, head } = TEXTS[language]
  const told = SETTING_GROUPS.flatMap(({ settings }) => Object.keys(settings))
  const silent = Object.keys(SETTINGS).filter((name) => !told.includes(name))
  const gone = told.filter((name) => !(name in SETTINGS))
  if (silent.length + gone.length > 0) {
    const names = [...silent, ...gone].join(', ')
    throw new Error(`scripts/manual/settings-words.ts and src/config.ts differ in ${names}`)
  }
  const groups = SETTING_GROUPS.map(({ id, zh, en, settings }) => {
    const rows = Object.entries(settings).map(([name, meaning]) => {
      const setting = SETTINGS[name as Name]
      const words = language === 'zh' ? meaning : setting.description
      return `| \`${name}\` | ${fallback(setting)} | ${words} |`
    })
    const title = language === 'zh' ? zh : en
    return `## ${title} {#${id}}\n\n${head}\n|---|---|---|\n${rows.join('\n')}\n`
  })
  const origin = '<!-- Written by scripts/manual.ts from src/config.ts. -->'
  return `${origin}\n${about}\n\n${groups.join('\n')}`
}

function fallback(setting: z.ZodType): string {
  const parsed = setting.safeParse(undefined)
  const value = parsed.success ? parsed.data : undefined
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return ''
  return `\`${String(value)}\``
}
