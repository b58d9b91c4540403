/** Texts known to break programs, used as keys, values, path segments and headers. */
export const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  'null',
  'undefined',
  'NaN',
  '__proto__',
  'constructor',
  'toString',
  '../../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '/etc/passwd',
  'C:\\Windows\\win.ini',
  'file:///etc/passwd',
  'http://127.0.0.1:22/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:127.0.0.1]/',
  'http://0x7f.1/',
  'gopher://127.0.0.1/_',
  'javascript:alert(1)',
  'https://user:pass@host.invalid/',
  "'; DROP TABLE tenant; --",
  '" OR ""="',
  '%',
  '%zz',
  '%00',
  '\r\nSet-Cookie: mb_session=x',
  'a\r\n\r\n<html>',
  '<script>alert(1)</script>',
  '{{7*7}}<%= 7*7 %>',
  '\ud800',
  '\udfff\ud800',
  '\u202e\u200b\ufeff',
  '👩‍👩‍👧‍👦'.repeat(50),
  'ａ'.repeat(300),
  'x'.repeat(201),
  'x'.repeat(8_001),
  'x'.repeat(40_000),
  '2026-13-45T99:99:99Z',
  '0001-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  'data:image/png;base64,',
  'data:image/png;base64,AAAA',
  'data:text/html;base64,AAAA',
  'data:image/svg+xml;base64,!!!',
  'AAAA'.repeat(100),
]

export const HOSTILE_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  1,
  0.1,
  2.5,
  100_001,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  5e-324,
]

export type Random = () => number

export const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item

/** JSON values of every type, used in place of the expected type. */
export function anything(random: Random, depth = 0): unknown {
  const kinds = ['text', 'text', 'number', 'null', 'boolean', ...(depth < 4 ? ['list', 'map'] : [])]
  const some = () => Math.floor(random() * 4)
  switch (pick(random, kinds)) {
    case 'text':
      return pick(random, HOSTILE_TEXTS)
    case 'number':
      return pick(random, HOSTILE_NUMBERS)
    case 'boolean':
      return random() < 0.5
    case 'list':
      return Array.from({ length: some() }, () => anything(random, depth + 1))
    case 'map':
      return Object.fromEntries(
        Array.from({ length: some() }, () => [
          pick(random, HOSTILE_TEXTS),
          anything(random, depth + 1),
        ]),
      )
    default:
      return null
  }
}
