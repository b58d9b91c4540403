import type { z } from 'zod'
import { SETTINGS } from '../config.ts'

const COMMANDS = `Moonbase: a multi-tenant AI agent platform in one file.

Usage: moonbase [command]

Commands
  serve                    start the server (the default)
  key create [--email E] [--rate-limit N] [--json]
                           make an API key; the tenant of E is made when missing
  version                  print the version
  --help                   this text

Settings (environment variables, all optional)
`

export function help(): string {
  const rows = Object.entries(SETTINGS)
    .filter(([, setting]) => setting.description !== undefined)
    .map(([name, setting]) => `  ${name.padEnd(24)} ${setting.description}${fallback(setting)}`)
  return `${COMMANDS}${rows.join('\n')}\n`
}

function fallback(setting: z.ZodType): string {
  const parsed = setting.safeParse(undefined)
  const value = parsed.success ? parsed.data : undefined
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return ''
  return ` (${String(value)})`
}
