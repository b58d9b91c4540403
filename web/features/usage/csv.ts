import type { ApiKeyMeta, App, Usage } from '../../api/types.ts'

const DAY_MS = 86_400_000

/** A field of RFC 4180. A quote before a formula keeps spreadsheets from evaluating it. */
function field(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

interface Names {
  readonly apps: readonly Pick<App, 'id' | 'name'>[]
  readonly keys: readonly Pick<ApiKeyMeta, 'id' | 'name' | 'tail'>[]
}

/** The week by day, app, key and channel as one table, for spreadsheets. */
export function csvOf(usage: Usage, { apps, keys }: Names): string {
  const appNames = new Map(apps.map(({ id, name }) => [id, name]))
  const byId = new Map(keys.map((key) => [key.id, key]))
  const rows: (string | number)[][] = [
    ['by', 'id', 'name', 'calls', 'input_tokens', 'output_tokens'],
    ...usage.daily.map(({ day, count, input_tokens, output_tokens }) => [
      ...['day', new Date(day * DAY_MS).toISOString().slice(0, 10), ''],
      ...[count, input_tokens, output_tokens],
    ]),
    ...usage.by_app.map(({ app_id, calls, input_tokens, output_tokens }) => [
      ...['app', app_id ?? '', appNames.get(app_id ?? '') ?? ''],
      ...[calls, input_tokens, output_tokens],
    ]),
    ...usage.by_key.map(({ key_id, prefix, calls, input_tokens, output_tokens }) => {
      const key = byId.get(key_id)
      const name = key?.name || `${prefix}…${key?.tail ?? ''}`
      return ['key', key_id, name, calls, input_tokens, output_tokens]
    }),
    ...usage.by_channel.map(({ channel, input_tokens, output_tokens }) => [
      ...['channel', channel, '', '', input_tokens, output_tokens],
    ]),
  ]
  // The mark at the start tells Excel that this is UTF-8.
  return `\ufeff${rows.map((row) => row.map(field).join(',')).join('\r\n')}\r\n`
}
