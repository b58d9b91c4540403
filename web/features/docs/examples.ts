import { shellQuoted } from '../../ui/curl.tsx'
import { example, JSON_TYPE, type Operation } from './openapi.ts'

export const PROGRAMS = ['curl', 'typescript', 'python'] as const
export type Program = (typeof PROGRAMS)[number]

export const PROGRAM_NAMES: Readonly<Record<Program, string>> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
}

/** Sample values for fields whose empty value would be a poor example. */
export type Samples = Readonly<Record<string, string>>

/** Fills empty texts, by the names of their fields. */
function filled(value: unknown, samples: Samples, field = ''): unknown {
  if (value === '') return samples[field] ?? '…'
  if (Array.isArray(value)) return value.map((item) => filled(item, samples, field))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
  return Object.fromEntries(fields.map(([name, item]) => [name, filled(item, samples, name)]))
}

const KEY = ['Authorization', 'Bearer <API_KEY>'] as const
const COOKIE = ['Cookie', 'mb_session=<SESSION>'] as const

interface Request {
  readonly method: string
  readonly url: string
  /** The credential: a key, for paths of people the cookie; null where none is asked for. */
  readonly credential: readonly [name: string, value: string] | null
  readonly kind: 'none' | 'json' | 'form' | 'bytes'
  readonly json: string
  readonly streams: boolean
}

function requestOf(operation: Operation, origin: string, samples: Samples): Request {
  const { method, path, body, isOpen, responses } = operation
  const kind = !body
    ? 'none'
    : body.mediaType === JSON_TYPE
      ? 'json'
      : body.mediaType.startsWith('multipart')
        ? 'form'
        : 'bytes'
  return {
    method,
    url: origin + path.replace(/\{(\w+)\}/g, '<$1>'),
    credential: isOpen ? null : path.startsWith('/v1/') ? KEY : COOKIE,
    kind,
    json: JSON.stringify(body && filled(example(body.schema), samples)),
    streams: responses.some(({ bodies }) =>
      bodies.some(({ mediaType }) => mediaType === 'text/event-stream'),
    ),
  }
}

/** The request as a command or a program that runs unchanged, except for values in <>. */
export function programFor(
  program: Program,
  operation: Operation,
  origin: string,
  samples: Samples,
): string {
  const request = requestOf(operation, origin, samples)
  return { curl, typescript, python }[program](request)
}

function curl({ method, url, credential, kind, json, streams }: Request): string {
  const flags = `${streams ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`}`
  const parts = [`curl${flags} ${shellQuoted(url)}`]
  if (credential) parts.push(`  -H '${credential.join(': ')}'`)
  if (kind === 'json') {
    parts.push(`  -H 'Content-Type: application/json'`, `  -d ${shellQuoted(json)}`)
  }
  if (kind === 'form') parts.push('  -F file=@<FILE>')
  if (kind === 'bytes') {
    parts.push(`  -H 'Content-Type: application/octet-stream'`, '  --data-binary @<FILE>')
  }
  return parts.join(' \\\n')
}

function typescript({ method, url, credential, kind, json, streams }: Request): string {
  const headers = credential ? [`    ${credential[0]}: '${credential[1]}',`] : []
  if (kind === 'json') headers.push(`    'Content-Type': 'application/json',`)
  const body = {
    none: [],
    json: [`  body: JSON.stringify(${json}),`],
    form: ['  body: form,'],
    bytes: [`  body: await readFile('<FILE>'),`],
  }[kind]
  const before = {
    none: [],
    json: [],
    form: [
      `import { openAsBlob } from 'node:fs'`,
      '',
      'const form = new FormData()',
      `form.set('file', await openAsBlob('<FILE>'), '<FILE>')`,
    ],
    bytes: [`import { readFile } from 'node:fs/promises'`, ''],
  }[kind]
  return [
    ...before,
    `const response = await fetch('${url}', {`,
    `  method: '${method}',`,
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
    ...body,
    '})',
    ...(streams
      ? [
          'const texts = response.body!.pipeThrough(new TextDecoderStream())',
          'for await (const text of texts) process.stdout.write(text)',
        ]
      : ['console.log(response.status, await response.text())']),
  ].join('\n')
}

/** JSON as Python writes it. */
const pythonOf = (json: string) =>
  json.replace(/\b(true|false|null)\b(?=[,}\]])/g, (word) => {
    return { true: 'True', false: 'False', null: 'None' }[word] ?? word
  })

function python({ method, url, credential, kind, json, streams }: Request): string {
  const body = {
    none: [],
    json: [`    json=${pythonOf(json)},`],
    form: ['    files={"file": open("<FILE>", "rb")},'],
    bytes: ['    data=open("<FILE>", "rb"),'],
  }[kind]
  return [
    'import requests',
    '',
    'response = requests.request(',
    `    "${method}", "${url}",`,
    ...(credential ? [`    headers={"${credential[0]}": "${credential[1]}"},`] : []),
    ...body,
    ...(streams ? ['    stream=True,'] : []),
    ')',
    streams
      ? 'for line in response.iter_lines(decode_unicode=True):\n    print(line)'
      : 'print(response.status_code, response.text)',
  ].join('\n')
}
