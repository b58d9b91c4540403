export type Encoding = 'br' | 'gzip'

/** Packed forms that lie beside a file, the smaller first, with the end of their name. */
export const ENCODINGS: ReadonlyMap<Encoding, string> = new Map([
  ['br', '.br'],
  ['gzip', '.gz'],
])

/** The best form that the client can read (RFC 9110, section 12.5.3); null: as it is. */
export function preferredEncoding(request: Request): Encoding | null {
  const header = request.headers.get('accept-encoding') ?? ''
  const accepted = new Set(
    header
      .toLowerCase()
      .split(',')
      .map((item) => item.split(';').map((part) => part.trim()))
      .filter(([, quality]) => !/^q=0(\.0*)?$/.test(quality ?? ''))
      .map(([name]) => name ?? ''),
  )
  return [...ENCODINGS.keys()].find((name) => accepted.has(name)) ?? null
}
